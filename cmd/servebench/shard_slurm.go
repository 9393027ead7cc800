package main

import (
	"fmt"
	"regexp"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"
)

// A slurmCommand is `servebench shard slurm` and its flags.
type slurmCommand struct {
	sharded
	sbatch []string
}

func newSlurmCommand(now func() time.Time) *cobra.Command {
	s := &slurmCommand{sharded: sharded{now: now}}
	cmd := s.command(&cobra.Command{
		Use:   "slurm [flags] -- run …",
		Short: "Print a batch script for Slurm",
		Long: `Print a batch script for Slurm. Submitted by sbatch, it runs a shard in each
task of one step, all of which start at the same second, and then prints the
report of them all. It ends with the worst exit code of the shards and the report.`,
		Example: `  servebench shard slurm --sbatch --nodes=4 --sbatch "--time=1:00:00" -- run --base-url http://gpu1:8000 > load.sh
  sbatch load.sh`,
	}, "30s", s.print)
	cmd.Flags().StringArrayVar(&s.sbatch, "sbatch", nil, `an "#SBATCH OPTION" line of the script, as "--nodes=4"; may be repeated`)
	return cmd
}

// sbatchOption is what fits in a line of its own.
var sbatchOption = regexp.MustCompile(`^-[^\r\n]+$`)

func (s *slurmCommand) print() error {
	for _, option := range s.sbatch {
		if !sbatchOption.MatchString(option) {
			return fmt.Errorf("--sbatch %q: it must be an option of sbatch, as --nodes=4", option)
		}
	}
	report := "servebench report"
	if s.run.Results.Strict {
		report += " --strict"
	}
	return slurmScript.Execute(s.out, map[string]any{
		"name": s.name, "shards": s.shards, "options": s.sbatch, "seconds": s.seconds(), "run": shellLines(s.words), "report": report,
	})
}

// The shards' ids come from Slurm's environment; %t in a file's name is Slurm's in
// --output, and servebench's in -o.
var slurmScript = template.Must(template.New("").Parse(`#!/bin/sh
# A load test by {{.shards}} shards. Submit it in a folder that all nodes share:
#
#     sbatch load.sh
#
# {{.name}}-JOB.txt gets the report of all shards together, the folder
# {{.name}}-JOB the records of each and what it said. OPENAI_API_KEY goes
# along with the environment.
#SBATCH --job-name={{.name}}
#SBATCH --ntasks={{.shards}}
#SBATCH --output={{.name}}-%j.txt
{{- range .options}}
#SBATCH {{.}}
{{- end}}

dir={{.name}}-$SLURM_JOB_ID
mkdir -p "$dir" || exit

# The second at which the load begins: until then the shards get ready.
T0=$(($(date +%s) + {{.seconds}}))

# A shard that fails ends no other.
srun --ntasks={{.shards}} --kill-on-bad-exit=0 --wait=0 --output="$dir/shard-%t.log" \
    ${SLURM_CPUS_PER_TASK:+--cpus-per-task=$SLURM_CPUS_PER_TASK} \
    servebench run --start-at "$T0" -o "$dir/shard-%t.jsonl"{{.run}}
ran=$?

{{.report}} "$dir"/shard-*.jsonl
reported=$?
exit $((ran > reported ? ran : reported))
`))

// shellLines are words as a shell reads them, each flag on a line of its own.
func shellLines(words []string) string {
	var text strings.Builder
	for _, word := range words {
		text.WriteString(" ")
		if strings.HasPrefix(word, "-") && !negativeNumber.MatchString(word) {
			text.WriteString("\\\n    ")
		}
		text.WriteString(shellWord(word))
	}
	return text.String()
}

var plainShellWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellWord is a word as a POSIX shell reads it.
func shellWord(word string) string {
	if plainShellWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
