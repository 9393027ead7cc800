package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/save"
)

// folders writes what `vllm bench sweep` leaves: a folder for each combination, with a result file
// for each run and all of them in summary.json, and summary.csv with all runs of all combinations.
func (r *result) folders() error {
	if !r.Plan.Folders {
		return nil
	}
	var all []pyjson.Object
	var errs []error
	for arm := range r.Plan.Arms {
		for _, point := range r.Plan.pointsOf(arm) {
			runs, err := r.combination(cell{arm: arm, point: point})
			all, errs = append(all, runs...), append(errs, err)
		}
	}
	return errors.Join(append(errs, r.save("summary.csv", func(w io.Writer) error { return writeFrame(w, all) }))...)
}

// combination writes the folder of one combination, and returns its runs.
func (r *result) combination(c cell) (runs []pyjson.Object, err error) {
	folder := r.Plan.combinationFolder(c)
	if err := os.MkdirAll(filepath.Join(r.Dir, folder), 0o777); err != nil {
		return nil, err
	}
	var errs []error
	for c.repeat = range r.Plan.most() {
		for _, e := range r.of(c) {
			for _, s := range r.sums[e.Run] {
				run, name := r.runObject(c, s), fmt.Sprintf("run=%d", c.repeat)
				if s.Header.Target != "" {
					name += "-" + fileName(s.Header.TargetName())
				}
				runs = append(runs, run)
				errs = append(errs, r.save(filepath.Join(folder, name+".json"), indented(run)))
			}
		}
	}
	if len(runs) > 0 {
		errs = append(errs, r.save(filepath.Join(folder, "summary.json"), indented(runs)))
	}
	return runs, errors.Join(errs...)
}

// combinationFolder is how vLLM names the folder of a server's and a load's combination; empty if
// there is one combination without parameters.
func (p *Plan) combinationFolder(c cell) string {
	var parts []string
	if arm := &p.Arms[c.arm]; arm.Name != usualArm || arm.Labels != nil {
		parts = append(parts, "SERVE-", arm.Name)
	}
	if name, _ := p.point(c); name != "" {
		parts = append(parts, "BENCH-", name)
	}
	return fileName(strings.Join(parts, "-"))
}

// fileName is a name without what vLLM does not want in the name of a file.
func fileName(name string) string {
	name = strings.ReplaceAll(strings.ReplaceAll(name, "/", "_"), "..", "__")
	return strings.Trim(strings.Trim(name, "'"), `"`)
}

// runObject is the result of a run as vLLM's sweep writes it: with the run's number and its
// parameters.
func (r *result) runObject(c cell, s *metrics.Summary) pyjson.Object {
	arm := &r.Plan.Arms[c.arm]
	name, params := r.Plan.point(c)
	named := *s
	header := *s.Header
	named.Header = &header
	ours := append([]metrics.KV{{Key: "arm"}, {Key: "repeat"}}, arm.Labels...)
	header.Config.Metadata = slices.DeleteFunc(slices.Clone(header.Config.Metadata), func(kv metrics.KV) bool {
		return slices.ContainsFunc(ours, func(own metrics.KV) bool { return own.Key == kv.Key })
	})
	settings := r.Plan.Points[c.point].Settings
	labelled := has(settings, "label")
	if labelled {
		header.Config.Label = ""
	}
	run := vllm.Result(&named, r.Plan.loadOf(c).Version)
	run.Set("run_number", c.repeat)
	if s.Header.Target != "" {
		run.Set("target", s.Header.TargetName())
	}
	switch {
	case labelled:
		run.Set(nameKey, name)
	case arm.Name != usualArm && arm.Name != joined(arm.Labels):
		run.Set(nameKey, arm.Name)
	}
	for _, kv := range append(slices.Clone(arm.Labels), params...) {
		run.Set(kv.Key, typed(kv.Value))
	}
	return run
}

// joined are parameters in words.
func joined(params []metrics.KV) string {
	words := make([]string, len(params))
	for i, kv := range params {
		words[i] = kv.Key + "=" + kv.Value
	}
	return strings.Join(words, "-")
}

// typed is a text as the number, the truth value or the object that it is in JSON, or the text.
func typed(text string) any {
	if v, err := pyjson.Parse(text); err == nil && v != nil {
		return v
	}
	return text
}

// indented writes JSON as Python's json.dump does with an indent of 4.
func indented(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		var text bytes.Buffer
		if err := json.Indent(&text, pyjson.Append(nil, v), "", "    "); err != nil {
			return err
		}
		_, err := text.WriteTo(w)
		return err
	}
}

// writeFrame writes objects as pandas writes the CSV of a data frame of them: a row for each, after its
// number, and a column for each key in the order in which they appear.
func writeFrame(w io.Writer, rows []pyjson.Object) error {
	var keys []string
	for _, row := range rows {
		for _, m := range row {
			keys = append(keys, m.Key)
		}
	}
	keys = metrics.Distinct(keys)
	lines := make([][]string, len(rows)+1)
	lines[0] = append([]string{""}, keys...)
	for i := range rows {
		lines[i+1] = []string{fmt.Sprint(i)}
	}
	for _, key := range keys {
		floats := inFloats(rows, key)
		for i, row := range rows {
			v, _ := row.Get(key)
			text := inPython(v)
			if f, err := strconv.ParseFloat(text, 64); err == nil && floats {
				text = inPython(f)
			}
			lines[i+1] = append(lines[i+1], text)
		}
	}
	return save.CSV(w, lines)
}

// inFloats reports whether pandas holds a column as floats: it has numbers alone, and one of them is
// no integer or is missing.
func inFloats(rows []pyjson.Object, key string) bool {
	broken := false
	for _, row := range rows {
		switch v, _ := row.Get(key); v.(type) {
		case nil, float64:
			broken = true
		case int, int64, json.Number:
		default:
			return false
		}
	}
	return broken
}

// inPython is a value as Python's str writes it; empty for None, which pandas leaves out.
func inPython(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	}
	text := string(pyjson.Append(nil, v))
	for _, word := range [][2]string{{"null", "None"}, {"true", "True"}, {"false", "False"}} {
		text = strings.ReplaceAll(text, word[0], word[1])
	}
	return strings.ReplaceAll(text, `"`, "'")
}
