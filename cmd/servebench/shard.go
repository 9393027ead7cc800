package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics/pyjson"
)

//go:embed shard/slurm.sh shard/kubernetes.yaml
var schedulerFiles embed.FS

// schedulerTemplates make the files for schedulers from a sharded.
var schedulerTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"lines": shellLines, "text": yamlText, "literal": literal,
	}).ParseFS(schedulerFiles, "shard/*"))
})

// newShardCommand prints job files for schedulers. now is the clock.
func newShardCommand(now func() time.Time) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shard slurm|kubernetes [flags] -- run …",
		Short: "Print a job that runs one load test on many machines",
		Long: `Print a job that runs one load test on many machines: a batch script for Slurm,
or a Job for Kubernetes. Each shard sends its part of the requests, at the times
that they have in the whole run. servebench report makes one report of them all.`,
		Example: `  servebench shard slurm --shards 8 -- run --base-url http://gpu1:8000 \
      --num-prompts 100000 --request-rate 2000 > load.sh
  sbatch load.sh

  servebench shard kubernetes --image registry/servebench:0.1.0 -- run \
      --base-url http://vllm:8000 > load.yaml
  kubectl apply -f load.yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return argv.Unknown(cmd, strings.Join(args[:min(1, len(args))], ""))
		},
	}
	cmd.AddCommand(newSlurmCommand(now), newKubernetesCommand(now))
	return cmd
}

// A sharded is a run that several machines make together, and the data for the file of
// their scheduler.
type sharded struct {
	Shards int
	Name   string        // of the job
	Ready  time.Duration // how long the shards have until they start
	Start  time.Time     // when they start, a whole second
	Words  []string      // of the run, as given
	Run    *options      // of the run, checked

	Sbatch                   []string // for Slurm only
	Image, Namespace, Secret string   // for Kubernetes only
}

// command makes cmd the verb for one scheduler, and returns its flags. The verb fills the
// template called file if the run is right and check returns nil.
func (s *sharded) command(cmd *cobra.Command, file string, now func() time.Time, check func() error) *argv.Flags {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.ArgsLenAtDash() != 0 || len(args) == 0 || args[0] != "run" {
			return fmt.Errorf("the run must follow a --, as in %s -- run --base-url http://HOST:8000", cmd.CommandPath())
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s.Words = args[1:]
		if err := s.check(); err != nil {
			return err
		}
		if err := check(); err != nil {
			return err
		}
		s.Start = now().Add(s.Ready + time.Second - 1).Truncate(time.Second).UTC()
		return schedulerTemplates().ExecuteTemplate(cmd.OutOrStdout(), file, s)
	}
	f := argv.Of(cmd)
	f.IntVar(&s.Shards, "shards", 8, "`N` number of shards")
	f.DurationVar(&s.Ready, "start-in", s.Ready,
		"`TIME` time for the shards to get ready before they start together, as 30s or 5m")
	f.StringVar(&s.Name, "name", "servebench", "`NAME` name of the job")
	f.Instead = map[string]string{}
	emptyForm().flags.VisitAll(func(flag *pflag.Flag) {
		if name := "--" + flag.Name; len(f.Find(name)) == 0 {
			f.Instead[name] = "it is a flag of the run: put -- run in front of it"
		}
	})
	return f
}

func newSlurmCommand(now func() time.Time) *cobra.Command {
	s := &sharded{Ready: 30 * time.Second}
	cmd := &cobra.Command{
		Use:   "slurm [flags] -- run …",
		Short: "Print a batch script for Slurm",
		Long: `Print a batch script for Slurm. It runs a shard in each task of one step. All
start at the same second; then the script prints the report of them all. It ends
with the worst exit code of the shards and the report.`,
		Example: `  servebench shard slurm --sbatch --nodes=4 --sbatch "--time=1:00:00" \
      -- run --base-url http://gpu1:8000 > load.sh
  sbatch load.sh`,
	}
	f := s.command(cmd, "slurm.sh", now, s.checkSlurm)
	f.StringArrayVar(&s.Sbatch, "sbatch", nil, "`OPTION` option of sbatch for the script, as --nodes=4; may be repeated")
	f.Verbatim("sbatch")
	return cmd
}

func newKubernetesCommand(now func() time.Time) *cobra.Command {
	s := &sharded{Ready: 2 * time.Minute}
	cmd := &cobra.Command{
		Use:   "kubernetes [flags] --image IMAGE -- run …",
		Short: "Print a Job for Kubernetes",
		Long: `Print a Job for Kubernetes 1.29 or later. Each of its pods is a shard, which
prints its records to its log, so that servebench report can make one report of
all logs. They start together, --start-in after the Job was printed.`,
		Example: `  servebench shard kubernetes --image registry/servebench:0.1.0 -- run \
      --base-url http://vllm:8000 | kubectl apply -f -
  kubectl logs -l job-name=servebench --tail=-1 --max-log-requests=8 |
      servebench report`,
	}
	f := s.command(cmd, "kubernetes.yaml", now, s.checkKubernetes)
	f.StringVar(&s.Image, "image", "", "`IMAGE` image with servebench in its PATH and the files that the run needs")
	f.StringVar(&s.Namespace, "namespace", "", "`NAME` namespace of the Job (default kubectl's)")
	f.StringVar(&s.Secret, "secret", "", "`NAME` Secret with the API key, as its key OPENAI_API_KEY")
	return cmd
}

var (
	// jobName is a name that both schedulers accept, and that may be part of a run's id.
	jobName      = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`)
	sbatchOption = regexp.MustCompile(`^-[^\r\n]+$`)
	dnsLabel     = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	})
	dnsSubdomain = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	})
	imageName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._/:@-]*$`)
)

func (s *sharded) check() (err error) {
	switch {
	case s.Shards < 2 || s.Shards > 1e4:
		return fmt.Errorf("argument --shards: %d: it must be from 2 to 10000", s.Shards)
	case !jobName.MatchString(s.Name):
		return fmt.Errorf("argument --name: %s: it may have small letters, digits and dashes, at most 40, and must begin "+
			"with a letter", pyjson.Quote(s.Name))
	case s.Ready < time.Second:
		return fmt.Errorf("argument --start-in: %v: it must be a second or more", s.Ready)
	}
	if s.Run, err = parseRun(s.Words); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if err := s.refuse(shardsOwn); err != nil {
		return err
	}
	if err := s.keepSecrets(); err != nil {
		return err
	}
	s.Run.ShardGiven = true
	s.Run.Plan.Shard = loadgen.Shard{Shard: dataset.Shard{Index: s.Shards - 1, Of: s.Shards}, RunID: s.Name}
	if _, err = s.Run.join(os.Getenv); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

func (s *sharded) checkSlurm() error {
	for _, option := range s.Sbatch {
		if !sbatchOption.MatchString(option) {
			return fmt.Errorf("argument --sbatch: %s: it must be an option of sbatch, such as --nodes=4", pyjson.Quote(option))
		}
	}
	return nil
}

func (s *sharded) checkKubernetes() error {
	switch {
	case s.Image == "":
		return errors.New("argument --image: it must name an image with servebench in its PATH, such as " +
			"registry/servebench:0.1.0 (make release builds one)")
	case !imageName.MatchString(s.Image):
		return fmt.Errorf("argument --image: %s: it must be the name of an image, such as registry/servebench:0.1.0",
			pyjson.Quote(s.Image))
	case s.Namespace != "" && !dnsLabel().MatchString(s.Namespace):
		return fmt.Errorf("argument --namespace: %s: it may have small letters, digits and dashes, at most 63",
			pyjson.Quote(s.Namespace))
	case s.Secret != "" && !dnsSubdomain().MatchString(s.Secret):
		return fmt.Errorf("argument --secret: %s: it may have small letters, digits, dashes and dots, at most 253",
			pyjson.Quote(s.Secret))
	case !utf8.ValidString(strings.Join(s.Words, "")):
		return errors.New("run: YAML needs UTF-8, and a word of the run is not UTF-8")
	}
	return s.refuse(podsOwn)
}

// shardsOwn are flags of run that a shard does not accept, each with the reason.
var shardsOwn = map[string]string{
	"record-to": "each shard writes its own records, where servebench report finds them",
	"shard":     "each shard finds its index; servebench shard --shards sets their number",
	"start-at":  "servebench shard --start-in sets the start",
	"run-id":    "the job makes it; servebench shard --name sets the name in it",
}

// podsOwn are flags of run whose files are lost with a pod, each with the remedy.
var podsOwn = map[string]string{
	"save-result": "a pod loses its files when it ends; servebench report --format json makes the file of all " +
		"shards together",
	"append-result": "a pod loses its files when it ends; servebench report --format json makes the object of all " +
		"shards together",
	"plot-timeline": "a pod loses its files when it ends; servebench report --html makes the page of all shards " +
		"together",
	"plot-dataset-stats": "a pod loses its files when it ends; servebench dataset --stats shows the lengths",
	"compress":           "a pod's log is text; compress it where you keep it",
	"hlog":               "a pod loses its files when it ends; a run under Slurm keeps one for each shard",
}

// refuse is an error if the run has one of flags.
func (s *sharded) refuse(flags map[string]string) error {
	for _, kv := range s.Run.Plan.Flags {
		if why := flags[kv.Key]; why != "" {
			return fmt.Errorf("run: argument --%s: remove it: %s", kv.Key, why)
		}
	}
	return nil
}

// keepSecrets refuses words that contain a secret, because files keep the output.
func (s *sharded) keepSecrets() error {
	flags := emptyForm().flags
	settings, err := flags.Settings(s.Words)
	if err != nil {
		return err
	}
	for _, set := range settings {
		secret := func(v string) bool {
			return flags.Show(set.Flag.Name, v) != v || s.Run.Plan.Server.Secrets.In(v)
		}
		if slices.ContainsFunc(set.Values, secret) {
			return fmt.Errorf("run: argument --%s: the output would show a secret: "+
				"put a bearer token into OPENAI_API_KEY and other headers into a --config file that the shards can read",
				set.Flag.Name)
		}
	}
	return nil
}

// Seconds is Ready in whole seconds, rounded up.
func (s *sharded) Seconds() int { return int((s.Ready + time.Second - 1) / time.Second) }

// shellLines are words as a POSIX shell reads them, each flag on a separate line.
func shellLines(words []string) string {
	var text strings.Builder
	for _, word := range words {
		text.WriteString(" ")
		if argv.IsOption(word) {
			text.WriteString("\\\n    ")
		}
		text.WriteString(shellWord(word))
	}
	return text.String()
}

// shellWord is a word as a POSIX shell reads it.
func shellWord(word string) string {
	if plainShellWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var plainShellWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// literal is a word of args as YAML. In args, Kubernetes replaces $(NAME) by a
// variable, and $$ by $.
func literal(word string) (string, error) {
	return yamlText(strings.ReplaceAll(word, "$", "$$"))
}

// yamlText is text as YAML reads it, on one line.
func yamlText(text string) (string, error) {
	var value any = text
	if strings.Contains(text, "\n") {
		value = &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: text}
	}
	scalar, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(scalar), "\n"), err
}
