//go:build slurm && linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics/stream"
)

// slurmLoad is a workload of which eight shards have unequal parts, and records that
// take several lines.
const slurmLoad = " --model stub-32000 --num-prompts 103 --random-input-len 20 --random-range-ratio 0.5 --random-output-len 150" +
	" --request-rate 50 --seed 3 --request-id-prefix r- --metadata a=b"

// TestSlurm runs eight shards on a real Slurm, and holds what they do together
// against what one run does alone.
func TestSlurm(t *testing.T) {
	c := startCluster(t)
	server, stop := startNotary(t)
	defer stop()
	t.Run("workload", func(t *testing.T) { slurmWorkload(t, c) })
	t.Run("pipe", func(t *testing.T) { slurmPipe(t, c, server) })
	t.Run("script", func(t *testing.T) { slurmScripts(t, c, server) })
	t.Run("killed shard", func(t *testing.T) { slurmKill(t, c, server) })
}

// slurmWorkload: the lines that servebench dataset prints for the shards, taken in turn,
// are the lines of the whole workload, byte for byte.
func slurmWorkload(t *testing.T, c *cluster) {
	prompts, err := os.ReadFile("../../testdata/golden/sharegpt_input.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.path("sharegpt.json"), prompts, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{
		slurmLoad,
		" --tokenizer stub-32000 --dataset-name sharegpt --dataset-path sharegpt.json --num-prompts 50 --request-id-prefix r-" +
			" --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 30",
		" --prompt-token-ids --random-input-len 5 --rate-curve up-down:0,20,1,step=20",
	} {
		whole := c.must(t, "sh", "-c", "servebench dataset"+flags)
		c.must(t, "srun", "-n", "8", "sh", "-c", "servebench dataset"+flags+" --shard $SLURM_PROCID/$SLURM_NTASKS >part-$SLURM_PROCID")
		var parts [8][]string
		for i := range parts {
			parts[i] = slices.Collect(strings.Lines(c.read(t, fmt.Sprint("part-", i))))
		}
		var union strings.Builder
		for i := range len(parts[0]) {
			for _, part := range parts {
				if i < len(part) {
					union.WriteString(part[i])
				}
			}
		}
		if whole == "" || union.String() != whole {
			t.Errorf("dataset%s: -whole +shards:\n%s", flags, cmp.Diff(whole, union.String()))
		}
	}
}

// slurmPipe: shards that write into one pipe have the records of the whole workload, and
// their report equals the report of the records one after the other.
func slurmPipe(t *testing.T, c *cluster, server *notary) {
	run := "servebench run --base-url " + server.URL + slurmLoad
	c.must(t, "sh", "-c", fmt.Sprintf("srun -n 8 %s --start-at %d -o - 2>said | tee piped.jsonl | servebench report >block 2>truth",
		run, time.Now().Add(3*time.Second).Unix()))
	piped := c.read(t, "piped.jsonl")
	shards := make([]strings.Builder, 8)
	for line := range strings.Lines(piped) {
		var at struct{ S int }
		if err := json.Unmarshal([]byte(line), &at); err != nil || len(line) > stream.PipeLine || !strings.HasSuffix(line, "\n") {
			t.Fatalf("a line of %d bytes: %v: %s", len(line), err, line)
		}
		shards[at.S].WriteString(line)
	}
	if !strings.Contains(piped, `"k":"more"`) {
		t.Error("no record took several lines")
	}
	if diff := cmp.Diff(c.planned(t, slurmLoad), server.seen(t, piped)); diff != "" {
		t.Errorf("-workload +sent:\n%s", diff)
	}

	var laid string
	for i := range shards {
		laid = shards[i].String() + laid // the last shard first
	}
	c.write(t, "laid.jsonl", laid)
	if got, want := c.read(t, "block"), c.must(t, "servebench", "report", "laid.jsonl"); got != want {
		t.Errorf("block: -laid +piped:\n%s", cmp.Diff(want, got))
	}
	if got, want := c.read(t, "truth"), c.run(t, "sh", "-c", "servebench report <laid.jsonl").stderr; got != want {
		t.Errorf("truth: -laid +piped:\n%s", cmp.Diff(want, got))
	}
	for _, flags := range [][]string{{"--format", "json"}, {"--format", "json", "--save-detailed"}, {"--extended"}, {"--slice", "500ms"}} {
		args := append([]string{"servebench", "report"}, flags...)
		if got, want := c.must(t, append(args, "piped.jsonl")...), c.must(t, append(args, "laid.jsonl")...); got != want {
			t.Errorf("%q: -laid +piped:\n%s", flags, cmp.Diff(want, got))
		}
	}

	c.must(t, "sh", "-c", run+" -o whole.jsonl")
	c.must(t, "sh", "-c", "srun -n 8 "+run+" --record requests -o - >short.jsonl")
	want := c.counts(t, "whole.jsonl")
	if want.Completed != 103 {
		t.Errorf("a run alone has %+v", want)
	}
	for _, stream := range []string{"piped.jsonl", "short.jsonl"} {
		if got := c.counts(t, stream); got != want {
			t.Errorf("%s has %+v, a run alone %+v", stream, got, want)
		}
	}
}

// slurmScripts: what servebench shard slurm prints is a batch script that reports all
// shards, and ends as they do.
func slurmScripts(t *testing.T, c *cluster, server *notary) {
	submit := func(name, url string) func() outcome {
		return c.start(t, "sh", "-c", fmt.Sprintf("servebench shard slurm --start-in 2s --name %s -- run%s --request-rate 100 --base-url %s >%[1]s.sh && "+
			"sbatch --wait %[1]s.sh", name, slurmLoad, url))
	}
	loaded := submit("load", server.URL)
	refused := submit("refused", fmt.Sprintf("http://127.0.0.1:%d", freePorts(t, 1)[0]))
	if o := refused(); o.code != exitNo {
		t.Errorf("without a server the script ended with %d\n%s", o.code, o.stderr)
	}
	o := loaded()
	if o.code != 0 {
		t.Fatalf("the script ended with %d\n%s", o.code, o.stderr)
	}
	job := strings.Fields(o.stdout)
	name := "load-" + job[len(job)-1]
	if report := c.read(t, name+".txt"); !strings.Contains(report, "Successful requests:                     103 ") {
		t.Errorf("the script printed\n%s", report)
	}
	var starts []time.Time
	for i := range 8 {
		for entry, err := range stream.NewReader(strings.NewReader(c.read(t, fmt.Sprintf("%s/shard-%d.jsonl", name, i)))).Entries() {
			if err != nil {
				t.Fatal(err)
			}
			if h := entry.Header; h != nil {
				starts = append(starts, h.StartAt)
			}
			if entry.Shard != i {
				t.Fatalf("shard-%d.jsonl has lines of shard %d", i, entry.Shard)
			}
		}
	}
	if len(starts) != 8 || starts[0].IsZero() || len(slices.CompactFunc(starts, time.Time.Equal)) != 1 {
		t.Errorf("the shards were to start at %v", starts)
	}
}

// slurmKill: a shard that is killed, or whose records are lost, is named.
func slurmKill(t *testing.T, c *cluster, server *notary) {
	wait := c.start(t, "srun", "-n", "8", "--kill-on-bad-exit=0", "--wait=0", "sh", "-c",
		"echo $$ >pid-$SLURM_PROCID; exec servebench run"+slurmLoad+" --request-rate 20 -o killed-%t.jsonl --base-url "+server.URL)
	awaitThat(t, "a record of shard 3", func() bool {
		text, err := os.ReadFile(c.path("killed-3.jsonl"))
		return err == nil && bytes.Contains(text, []byte(`"k":"req"`))
	})
	pid, err := strconv.Atoi(strings.TrimSpace(c.read(t, "pid-3")))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if o := wait(); o.code != 128+int(syscall.SIGKILL) {
		t.Errorf("srun ended with %d\n%s", o.code, o.stderr)
	}
	if err := os.Remove(c.path("killed-5.jsonl")); err != nil {
		t.Fatal(err)
	}
	o := c.run(t, "sh", "-c", "cat killed-*.jsonl | servebench report --strict")
	for _, want := range []string{"SUSPECT", "shard 3", "shard 5"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("the report does not say %s", want)
		}
	}
	if o.code != exitNoVerdict || t.Failed() {
		t.Errorf("it ended with %d\n%s\n%s", o.code, o.stdout, o.stderr)
	}
}

func (c *cluster) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(c.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (c *cluster) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(c.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A tallied is what a report counts.
type tallied struct {
	Completed, Failed int
	Input             int `json:"total_input_tokens"`
	Output            int `json:"total_output_tokens"`
}

func (c *cluster) counts(t *testing.T, stream string) (n tallied) {
	t.Helper()
	if err := json.Unmarshal([]byte(c.must(t, "servebench", "report", "--format", "json", stream)), &n); err != nil {
		t.Fatal(err)
	}
	return n
}
