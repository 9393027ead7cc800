//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// bashFunctions are what bash's completion needs, of Debian's package bash-completion.
const bashFunctions = "/usr/share/bash-completion/bash_completion"

// shells print what they offer for the command line in $LINE, a word a line. zsh offers
// nothing to a program, so it is typed into on a terminal: what it shows has the words.
var shells = map[string][]string{
	"bash": {"--norc", "-c", `
		. ` + bashFunctions + `
		. <(servebench completion bash)
		COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_TYPE=9
		read -ra COMP_WORDS <<<"$LINE"
		[[ $LINE == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		compopt() { :; }
		__start_servebench
		printf '%s\n' "${COMPREPLY[@]}"`},
	"fish": {"--no-config", "-c", `servebench completion fish | source; complete -C $LINE`},
	"zsh": {"-f", "-c", `
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell 'PS1=; stty -echo; autoload -Uz compinit; compinit -D -u; source <(servebench completion zsh); echo rea""dy'
		zpty -r -m shell text '*ready*'
		zpty -w -n shell "$LINE"$'\t'
		while [[ $shown != *$WANT* ]]; do
			zpty -r -t shell text && shown+=$text || sleep 0.02
		done
		print -r -- "$shown"
		zpty -d shell`},
}

// Shells offer flags with what they do, values, lists and files.
func TestShellsComplete(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for shell, args := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("%s is not installed: apt-get install %[1]s", shell)
			}
			if _, err := os.Stat(bashFunctions); shell == "bash" && err != nil {
				t.Skip("bash-completion is not installed: apt-get install bash-completion")
			}
			dir := t.TempDir()
			program(t, dir)
			if err := os.WriteFile(filepath.Join(dir, "experiment.yaml"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for line, want := range map[string]string{
				"servebench sim --profile percentiles-":          "percentiles-e2el",
				"servebench run --backend openai-":               "openai-chat",
				"servebench run --dataset-name share":            "sharegpt",
				"servebench run --num-prom":                      "--num-prompts",
				"servebench run --percentile-metrics ttft,tp":    "ttft,tpot",
				"servebench compare --margin median_tp":          "median_tpot=",
				"servebench compare --format gith":               "github",
				"servebench run --config exp":                    "experiment.yaml",
				"servebench sweep exp":                           "experiment.yaml",
				"servebench shard sl":                            "slurm",
				"servebench run --gpu-metrics nvid":              "nvidia-smi",
				"servebench run --drop-body ignore_eos,logp":     "ignore_eos,logprobs",
				"servebench run --request-rate inf --record req": "requests",
			} {
				limited, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				cmd := exec.CommandContext(limited, path, args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "LINE="+line, "WANT="+want, "HOME="+dir, "TERM=xterm")
				out, err := cmd.CombinedOutput()
				if err != nil || !offers(shell, string(out), want) {
					t.Errorf("%s: no %s: %v\n%s", line, want, err, out)
				}
			}
		})
	}
}

// offers says whether a shell's output has the word. fish adds what it is about, bash
// puts a backslash before a comma.
func offers(shell, out, word string) bool {
	if shell == "zsh" {
		return strings.Contains(out, word)
	}
	return slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool {
		line, _, _ = strings.Cut(line, "\t")
		return strings.ReplaceAll(strings.TrimSuffix(line, " "), `\,`, ",") == word
	})
}

// The manual pages are well formed to groff, which warns of nothing in them.
func TestManualPagesAreWellFormed(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed: apt-get install groff-base")
	}
	dir := t.TempDir()
	if out, err := exec.Command(program(t, dir), "man", filepath.Join(dir, "man")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man", "servebench*.1"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%q: %v", pages, err)
	}
	if out, err := exec.Command(groff, append([]string{"-man", "-ww", "-z", "-Kutf8"}, pages...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
