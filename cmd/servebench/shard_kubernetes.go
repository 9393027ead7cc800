package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// A kubernetesCommand is `servebench shard kubernetes` and its flags.
type kubernetesCommand struct {
	sharded
	image     string
	namespace string
	secret    string
}

func newKubernetesCommand(now func() time.Time) *cobra.Command {
	k := &kubernetesCommand{sharded: sharded{now: now}}
	cmd := k.command(&cobra.Command{
		Use:   "kubernetes [flags] --image IMAGE -- run …",
		Short: "Print a Job for Kubernetes",
		Long: `Print a Job for Kubernetes, of 1.29 or later. Each of its pods is a shard that
prints its records in compact form, so servebench report makes one report of the
logs of them all. They start together --start-in after the Job was printed.`,
		Example: `  servebench shard kubernetes --image registry/servebench:1 -- run --base-url http://vllm:8000 | kubectl apply -f -
  kubectl logs -l job-name=servebench --tail=-1 --max-log-requests=8 | servebench report`,
	}, "2m", k.print)
	f := cmd.Flags()
	f.StringVar(&k.image, "image", "", "image that has servebench in its PATH, and the files that the run's flags name")
	f.StringVar(&k.namespace, "namespace", "", "namespace of the Job (default kubectl's)")
	f.StringVar(&k.secret, "secret", "", "`NAME` of a Secret whose key OPENAI_API_KEY goes into the environment")
	return cmd
}

var (
	dnsLabel     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	dnsSubdomain = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	imageName    = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._/:@-]*$`)
)

// podsOwn are flags of run whose files would end with a pod, each with what to do.
var podsOwn = map[string]string{
	"save-result":        "a pod's files end with it; servebench report --format json makes the file of all shards together",
	"append-result":      "a pod's files end with it; servebench report --format json makes the object of all shards together",
	"plot-timeline":      "a pod's files end with it, and its log has no single requests; a run under Slurm has them",
	"plot-dataset-stats": "a pod's files end with it; servebench dataset --stats shows the lengths",
	"hlog":               "a pod's files end with it; a run under Slurm leaves one for each shard",
}

func (k *kubernetesCommand) print() error {
	switch {
	case k.image == "":
		return errors.New("--image: it must name an image that has servebench in its PATH")
	case !imageName.MatchString(k.image):
		return fmt.Errorf("--image %q: it must be the name of an image, as registry/servebench:1", k.image)
	case k.namespace != "" && !dnsLabel.MatchString(k.namespace):
		return fmt.Errorf("--namespace %q: it must be of small letters, digits and dashes, at most 63", k.namespace)
	case k.secret != "" && !dnsSubdomain.MatchString(k.secret):
		return fmt.Errorf("--secret %q: it must be of small letters, digits, dashes and dots, at most 253", k.secret)
	case !utf8.ValidString(strings.Join(k.words, "")):
		return errors.New("run: YAML holds UTF-8 only, and a word of the run is not")
	}
	if err := k.refuse(podsOwn); err != nil {
		return err
	}
	start := k.start()
	in := ""
	if k.namespace != "" {
		in = " -n " + k.namespace
	}
	run := slices.Concat([]string{"run", "--run-id", k.name + start.Format("-20060102T150405Z"),
		"--start-at", start.Format(time.RFC3339), "--record", "compact", "-o", "-"}, k.words)
	return kubernetesJob.Execute(k.out, map[string]any{
		"name": k.name, "shards": k.shards, "ready": k.ready, "start": start.Format(time.RFC3339), "in": in,
		"image": k.image, "namespace": k.namespace, "secret": k.secret, "run": run,
	})
}

var kubernetesJob = template.Must(template.New("").Funcs(template.FuncMap{"text": yamlText, "literal": literal}).Parse(
	`# A load test by {{.shards}} shards, which start together at {{.start}}: that is
# {{.ready}} after this was printed, so print it anew for each run.
#
#     kubectl apply -f load.yaml
#     kubectl wait{{.in}} --for=condition=complete --timeout=1h job/{{.name}}
#     kubectl logs{{.in}} -l job-name={{.name}} --tail=-1 --max-log-requests={{.shards}} | servebench report
#     kubectl delete -f load.yaml
apiVersion: batch/v1
kind: Job
metadata:
  name: {{text .name}}
{{- if .namespace}}
  namespace: {{text .namespace}}
{{- end}}
spec:
  completionMode: Indexed
  completions: {{.shards}}
  parallelism: {{.shards}}
  # A shard that fails ends no other, and is not begun anew: its part would come late.
  backoffLimitPerIndex: 0
  template:
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      topologySpreadConstraints: # over the nodes, as far as that goes
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              job-name: {{text .name}}
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: servebench
          image: {{text .image}}
          command: [servebench]
          args:
{{- range .run}}
            - {{literal .}}
{{- end}}
          env:
            - name: SERVEBENCH_SHARDS
              value: "{{.shards}}"
{{- if .secret}}
            - name: OPENAI_API_KEY
              valueFrom:
                secretKeyRef:
                  name: {{text .secret}}
                  key: OPENAI_API_KEY
{{- end}}
          resources: # no limit of CPU: what it throttles would show as latency
            requests:
              cpu: "1"
              memory: 1Gi
            limits:
              memory: 1Gi
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
`))

// literal is a word of args as YAML. Kubernetes takes $(NAME) in one for a
// variable, and $$ for $.
func literal(word string) (string, error) {
	return yamlText(strings.ReplaceAll(word, "$", "$$"))
}

// yamlText is text as YAML reads it, on one line.
func yamlText(text string) (string, error) {
	if strings.Contains(text, "\n") {
		text, err := yaml.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: text})
		return strings.TrimSuffix(string(text), "\n"), err
	}
	scalar, err := yaml.Marshal(text)
	return strings.TrimSuffix(string(scalar), "\n"), err
}
