package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// What a Job's pods run is a whole load test: here they are processes, each with
// one log for its records and its talk.
func TestPodsOfAJobMakeOneReport(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	t.Parallel()
	url, wait := startSim(t, t.Context())
	t.Cleanup(func() {
		if err := wait(); err != nil {
			t.Error(err)
		}
	})
	job, err := exec.Command("servebench", "shard", "kubernetes", "--shards", "3", "--start-in", "1s", "--image", "i", "--",
		"run", "--base-url", url, "--num-prompts", "10", "--random-input-len", "10", "--random-output-len", "5", "--request-rate", "50").Output()
	if err != nil {
		t.Fatal(err)
	}
	var logs bytes.Buffer
	for _, pod := range startPods(t, job, 3) {
		if err := pod.Wait(); err != nil {
			t.Errorf("%v\n%s", err, pod.Stdout)
		}
		logs.WriteString(fmt.Sprint(pod.Stdout))
	}
	if bytes.Contains(logs.Bytes(), []byte(`"gaps"`)) {
		t.Error("a log has the time of each token")
	}
	report := exec.Command("servebench", "report", "--format", "json")
	report.Stdin = bytes.NewReader(logs.Bytes())
	got, err := report.Output()
	if err != nil || !bytes.Contains(got, []byte(`"completed": 10, "failed": 0,`)) {
		t.Errorf("%v\n%s\n%s", err, got, &logs)
	}
}

func TestRunSaysWhatPodsRecord(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{"run": "requests", "run --record full": "full"} {
		job, err := printShards(t, append([]string{"kubernetes", "--image", "i", "--"}, strings.Fields(words)...)...)
		if err != nil {
			t.Fatal(err)
		}
		o, err := parseRun(containerOf(t, []byte(job)).Args[1:])
		if err != nil || o.Results.Record != want || o.Results.Stream != "-" {
			t.Errorf("%s: %v: a pod records %s to %q", words, err, o.Results.Record, o.Results.Stream)
		}
	}
}

// startPods starts the container of each pod of a Job as a process, as Kubernetes
// would: stdout and stderr are one log.
func startPods(t *testing.T, manifest []byte, n int) (pods []*exec.Cmd) {
	t.Helper()
	container := containerOf(t, manifest)
	for i := range n {
		pod := exec.CommandContext(t.Context(), container.Command[0], container.Args...)
		pod.Env = append(os.Environ(), fmt.Sprint("JOB_COMPLETION_INDEX=", i))
		for _, env := range container.Env {
			pod.Env = append(pod.Env, env.Name+"="+env.Value)
		}
		var log bytes.Buffer
		pod.Stdout, pod.Stderr = &log, &log
		if err := pod.Start(); err != nil {
			t.Fatal(err)
		}
		pods = append(pods, pod)
	}
	return pods
}

// A container is what is run in a pod.
type container struct {
	Command, Args []string
	Env           []struct{ Name, Value string }
}

func containerOf(t *testing.T, manifest []byte) container {
	t.Helper()
	var job struct {
		Spec struct {
			Template struct {
				Spec struct{ Containers []container }
			}
		}
	}
	if err := yaml.Unmarshal(manifest, &job); err != nil {
		t.Fatal(err)
	}
	return job.Spec.Template.Spec.Containers[0]
}
