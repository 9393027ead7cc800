package hf

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Code to write or to edit.
var (
	instructCoder = &class{
		repositories: []string{"likaixin/InstructCoder"}, split: "train", outputLen: 200, rendered: unlessSkipped,
		positions: true,
		columns:   []string{"input", "instruction"}, turn: plain(instruction), open: (*opened).files,
	}
	zeta = &class{
		repositories: []string{"zed-industries/zeta"}, split: "train", positions: true,
		columns: []string{"events", "input", "output"}, turn: nextEdit, open: (*opened).files,
	}
	blazedit = &class{
		repositories: []string{"vdaita/edit_5k_char", "vdaita/edit_10k_char"}, split: "train", outputLen: 4000,
		rendered: unlessSkipped, positions: true,
		fitting: ": see --blazedit-min-distance and --blazedit-max-distance",
		columns: []string{"code", "change_request", "norm_distance"}, turn: edit, open: (*opened).files,
	}
)

// Prompts of vLLM's client, whose texts are part of the workload.
const (
	instructionFormat = "%s\n\n%s Just output the code, do not include any explanation."

	nextEditFormat = "### Instruction:\nYou are a code completion assistant and your task is to analyze user edits and " +
		"then rewrite an excerpt that the user provides, " +
		"suggesting the appropriate edits within the excerpt, taking into account the cursor location.\n\n### User " +
		"Edits:\n\n%s\n\n### User Excerpt:\n\n%s\n\n### Response:\n\n"

	editFormat = "Given a code file, please apply the change requests and generate the new file.\n\nOriginal " +
		"file:\n```python\n%s\n```\n\nChange request:\n%s\n\n" +
		"Please generate the new code file in the \"New file\" section below."
)

// regionStart is where the answer of a next edit begins.
const regionStart = "<|editable_region_start|>"

func instruction(row pyjson.Object) (string, error) {
	return formatted(row, instructionFormat, "input", "instruction")
}

// formatted is a prompt with texts of the row in it.
func formatted(row pyjson.Object, format string, names ...string) (string, error) {
	texts := make([]any, len(names))
	for i, name := range names {
		var err error
		if texts[i], err = text(row, name); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf(format, texts...), nil
}

// nextEdit asks for the next edit of an excerpt. The answer counts from the editable region on; of an
// answer without that region, the last character counts. --hf-output-len has no effect.
func nextEdit(o *opened, row pyjson.Object) (*dataset.Turn, error) {
	prompt, err := formatted(row, nextEditFormat, "events", "input")
	if err != nil {
		return nil, err
	}
	output, err := text(row, "output")
	if err != nil {
		return nil, err
	}
	if start := strings.Index(output, regionStart); start >= 0 {
		output = output[start:]
	} else if all := []rune(output); len(all) > 0 {
		output = string(all[len(all)-1])
	}
	return &dataset.Turn{Prompt: prompt, PromptLen: o.of.Tokenizer.Count(prompt, true),
		OutputLen: o.of.Tokenizer.Count(output, true)}, nil
}

// edit asks for an edit of a file, if it changes as much of the file as asked for.
func edit(o *opened, row pyjson.Object) (*dataset.Turn, error) {
	distance, err := number(row, "norm_distance")
	if err != nil || distance < o.of.Edits.Min || distance > o.of.Edits.Max {
		return nil, err
	}
	prompt, err := formatted(row, editFormat, "code", "change_request")
	if err != nil {
		return nil, err
	}
	return o.asked(user(prompt), "")
}

// number is a number in a row. Cells of CSV spell it.
func number(row pyjson.Object, path ...any) (float64, error) {
	value, err := within(row, path...)
	if err != nil {
		return 0, err
	}
	switch v := value.(type) {
	case float64:
		return v, nil
	case int:
		return float64(v), nil
	case fmt.Stringer: // a json.Number
		if f, err := strconv.ParseFloat(v.String(), 64); err == nil {
			return f, nil
		}
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%s is no number", spelled(path))
}
