package kubernetes

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const (
	server = "http://" + host + ":8000"
	// load is a workload of which eight shards have unequal parts.
	load = " --model stub-32000 --num-prompts 103 --random-input-len 20 --random-range-ratio 0.5 --random-output-len 50 --seed 3 --base-url " + server
)

// TestJob gives a cluster the Jobs that servebench prints, runs what their first lines
// say, and holds the reports against what one run does alone.
func TestJob(t *testing.T) {
	c := startCluster(t)
	c.daemon(t, "servebench", "sim", "--host", host, "--port", "8000", "--step-base", "1ms", "--ready-file", c.path("ready"))
	c.await(t, "the simulator", func() bool { _, err := os.Stat(c.path("ready")); return err == nil })
	c.sh(t, "servebench run"+load+" --request-rate 50 -o whole.jsonl")
	whole := c.counts(t, "whole.jsonl")
	if whole.Completed != 103 || whole.Failed != 0 || whole.Input == 0 || whole.Output == 0 {
		t.Fatalf("a run alone has %+v", whole)
	}
	t.Run("all pods complete", func(t *testing.T) { allComplete(t, c, whole) })
	t.Run("one killed, one lost", func(t *testing.T) { killedAndLost(t, c) })
	t.Run("killed and begun again", func(t *testing.T) { begunAgain(t, c, whole) })
}

// allComplete: the shards' logs make the report of one run, as kubectl gives them and as
// the nodes keep them.
func allComplete(t *testing.T, c *cluster, whole counts) {
	j := c.apply(t, "load", "--request-rate 50", "")
	j.wait(t)
	c.must(t, "kubectl", "wait", "--for=condition=complete", "--timeout=1s", "job/load")
	j.logs(t)
	c.sh(t, "kubectl logs -l job-name=load --tail=-1 --max-log-requests=8 --prefix --timestamps >prefixed.log")
	for _, logs := range []string{"load.log", "prefixed.log", "node-*/pods/default_load-*/servebench/*.log"} {
		if got := c.counts(t, logs); got != whole {
			t.Errorf("%s: the shards have %+v, a run alone %+v", logs, got, whole)
		}
	}
	o := c.run("sh", "-c", "servebench report load.log")
	for _, amiss := range []string{"lack shard", "was cut", "ran twice", "skipped"} {
		if o.code != 0 || strings.Contains(o.stderr, amiss) {
			t.Errorf("the report ends with %d and says %q:\n%s", o.code, amiss, o.stderr)
		}
	}
}

// killedAndLost: a shard whose process is killed and one whose pod is deleted end no
// other and are not begun again. The report names them, and counts the others, and what
// the killed one had recorded.
func killedAndLost(t *testing.T, c *cluster) {
	j := c.apply(t, "cut", "--request-rate 10", "")
	j.begun(t)
	j.kill(t, 3)
	c.must(t, "kubectl", "delete", "pod", "-l", "job-name=cut,batch.kubernetes.io/job-completion-index=5", "--grace-period=1")
	j.wait(t)
	if failed := c.must(t, "kubectl", "get", "job", "cut", "-o", "jsonpath={.status.failedIndexes}"); failed != "3,5" {
		t.Errorf("the indexes %q failed", failed)
	}
	j.logs(t)
	j.suspect(t, "the files lack shard 5 of 8", "shard 3 (host cut-3) was cut")
	var others counts
	for i := range shards {
		if i != 3 && i != 5 {
			others.add(c.planned(t, i))
		}
	}
	most := others
	most.add(c.planned(t, 3))
	if got := c.counts(t, "cut.log"); got.Completed < others.Completed || got.Completed >= most.Completed || got.Failed != others.Failed {
		t.Errorf("the report has %+v, the other six shards %+v, and with shard 3 %+v", got, others, most)
	}
}

// begunAgain: where a Job's owner lets it begin a shard again, the requests of both pods
// are the shard's, and the report says so.
func begunAgain(t *testing.T, c *cluster, whole counts) {
	j := c.apply(t, "again", "--request-rate 20", "s/backoffLimitPerIndex: 0/backoffLimitPerIndex: 1/")
	j.begun(t)
	j.kill(t, 3)
	j.wait(t)
	c.must(t, "kubectl", "wait", "--for=condition=complete", "--timeout=1s", "job/again")
	j.logs(t)
	j.suspect(t, "shard 3 (host again-3) ran twice", "shard 3 (host again-3) was cut once")
	most := whole
	most.add(c.planned(t, 3))
	if got := c.counts(t, "again.log"); got.Completed < whole.Completed || got.Completed >= most.Completed || got.Failed != whole.Failed {
		t.Errorf("the report has %+v, a run alone %+v, and with shard 3 twice %+v", got, whole, most)
	}
}

// A job is one that the cluster has. Its manifest is NAME.yaml in the cluster's folder.
type job struct {
	*cluster
	name string
	had  int // how many requests the server had answered before
}

// apply prints a Job, edits it by an expression of sed, and gives it to the cluster
// until the end of the test.
func (c *cluster) apply(t *testing.T, name, flags, edit string) *job {
	t.Helper()
	j := &job{c, name, answered(t)}
	c.sh(t, fmt.Sprintf("servebench shard kubernetes --image %[1]s --name %[2]s --start-in 8s -- run%[3]s %[4]s >%[2]s.yaml && sed -i '%[5]s' %[2]s.yaml", c.image, name, load, flags, edit))
	c.must(t, "kubectl", "apply", "-f", name+".yaml")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.run("kubectl", "describe", "jobs,pods").stdout)
		}
		c.must(t, "kubectl", "delete", "-f", name+".yaml")
	})
	return j
}

// says is the command of the manifest's first lines that begins with the words.
func (j *job) says(t *testing.T, words string) string {
	t.Helper()
	for line := range strings.Lines(j.sh(t, "cat "+j.name+".yaml")) {
		if command, is := strings.CutPrefix(strings.TrimSpace(line), "#     "); is && strings.HasPrefix(command, words) {
			return command
		}
	}
	t.Fatalf("the manifest does not say how to %s", words)
	return ""
}

// wait waits for the end of the Job as its manifest says.
func (j *job) wait(t *testing.T) { j.sh(t, j.says(t, "kubectl wait")) }

// logs writes the logs of all shards to NAME.log, as the manifest gives them to a report.
func (j *job) logs(t *testing.T) {
	t.Helper()
	command, is := strings.CutSuffix(j.says(t, "kubectl logs"), "| servebench report")
	if !is {
		t.Fatalf("%q makes no report", command)
	}
	j.sh(t, command+">"+j.name+".log")
}

// begun waits until shards have sent requests.
func (j *job) begun(t *testing.T) {
	t.Helper()
	j.await(t, "answers for "+j.name, func() bool { return answered(t) >= j.had+shards })
}

// suspect checks that a strict report of the Job is SUSPECT and says why.
func (j *job) suspect(t *testing.T, reasons ...string) {
	t.Helper()
	o := j.run("sh", "-c", "servebench report --strict "+j.name+".log")
	for _, reason := range append(reasons, "SUSPECT") {
		if !strings.Contains(o.stderr, reason) {
			t.Errorf("the report does not say %q", reason)
		}
	}
	if o.code != 3 || t.Failed() {
		t.Errorf("it ended with %d\n%s\n%s", o.code, o.stdout, o.stderr)
	}
}

var shardIndex = regexp.MustCompile(`(?:^|\x00)JOB_COMPLETION_INDEX=([0-9]+)\x00`)

// kill kills the process of a shard.
func (j *job) kill(t *testing.T, shard int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if index := shardIndex.FindSubmatch(text); err != nil || index == nil || string(index[1]) != strconv.Itoa(shard) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("shard %d has no process", shard)
}

// counts are what a report counts.
type counts struct {
	Completed, Failed int
	Input             int `json:"total_input_tokens"`
	Output            int `json:"total_output_tokens"`
}

func (n *counts) add(other counts) {
	n.Completed += other.Completed
	n.Failed += other.Failed
	n.Input += other.Input
	n.Output += other.Output
}

// counts returns what the report of files counts.
func (c *cluster) counts(t *testing.T, files string) (n counts) {
	t.Helper()
	if err := json.Unmarshal([]byte(c.sh(t, "servebench report --format json "+files)), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// planned are the requests of a shard.
func (c *cluster) planned(t *testing.T, shard int) (n counts) {
	t.Helper()
	for line := range strings.Lines(c.sh(t, fmt.Sprintf("servebench dataset%s --shard %d/%d", load, shard, shards))) {
		var request struct {
			In  int `json:"prompt_len"`
			Out int `json:"output_len"`
		}
		if err := json.Unmarshal([]byte(line), &request); err != nil {
			t.Fatal(err)
		}
		n.add(counts{1, 0, request.In, request.Out})
	}
	return n
}

var success = regexp.MustCompile(`(?m)^vllm:request_success_total\{.*\} ([0-9]+)\.0$`)

// answered is how many requests the server has answered.
func answered(t *testing.T) (n int) {
	t.Helper()
	reply, err := http.Get(server + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range success.FindAllSubmatch(text, -1) {
		count, err := strconv.Atoi(string(line[1]))
		if err != nil {
			t.Fatal(err)
		}
		n += count
	}
	return n
}
