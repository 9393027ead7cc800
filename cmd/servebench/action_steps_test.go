//go:build outside

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
)

// slowServer is the command of a server that differs from fastServer on any machine.
const slowServer = "servebench sim --port ${port} --step-base 1s"

// fork is the id of a fork of the action's repository.
const fork = 2

// baselines are the artifacts of the name servebench-baseline.
func (g *github) baselines() (found []string) {
	for _, a := range g.Artifacts {
		if a["name"] == "servebench-baseline" {
			run := a["workflow_run"].(map[string]any)["id"]
			found = append(found, readText(g.t, filepath.Join(g.dir, fmt.Sprint(run), "servebench-baseline", "baseline.jsonl")))
		}
	}
	return found
}

// The steps of action.yml, in the order in which a repository meets them.
func TestActionGates(t *testing.T) {
	job := newJobs(t)
	t.Parallel()

	first := job("pull_request", "feature").run(with(fastServer))
	first.wants("NO VERDICT", 3, "title=servebench NO VERDICT::there is no baseline", "update-baseline: true on the default branch\n", "There is no baseline servebench-baseline from a successful run on main.", "!NO BASELINE",
		"## NO VERDICT", "docs/ci.md#no-verdict", "<summary>Each run</summary>", "!REGRESSED")
	if report := readText(t, filepath.Join(first.outputs["folder"], "compare.xml")); !strings.Contains(report, `errors="1"`) || !strings.Contains(report, `failures="0"`) {
		t.Error(report)
	}
	job("push", "main").run(with(fastServer)).wants("NO VERDICT", 3, "there is no baseline")
	if kept := first.github.baselines(); kept != nil {
		t.Errorf("runs made a baseline unasked: %q", kept)
	}

	job("workflow_dispatch", "main").run(with(fastServer, "update-baseline", "true")).wants("BASELINE UPDATED", 0, "## BASELINE UPDATED", "baseline.jsonl: 1 session, 6 runs", "!::warning")

	job("pull_request", "feature").run(with(fastServer)).wants("PASS", 0, "title=servebench PASS, on these baseline sessions only::", "## PASS", "The old runs are the baseline servebench-baseline, whose newest session is of 20", "!::notice title=servebench compare::", "!there is no baseline")
	worse := job("pull_request", "feature").run(with(slowServer))
	worse.wants("REGRESSED", 1, "::error title=servebench REGRESSED, on these baseline sessions only::mean_e2el +", "## REGRESSED", "!NO VERDICT")
	if report := readText(t, filepath.Join(worse.outputs["folder"], "compare.xml")); !strings.Contains(report, `<failure message="REGRESSED">`) || !strings.Contains(report, `errors="0"`) {
		t.Error(report)
	}
	job("pull_request", "feature").run(with(fastServer, "restarts", "1")).wants("NO VERDICT", 3, "::warning title=servebench NO VERDICT::", "!there is no baseline", "!REGRESSED")
	dead := job("pull_request", "feature").run(with("exit 7 # ${port}"))
	dead.wants("FAILED", 1, "title=servebench FAILED::The server could not be measured: server: ", "## FAILED", "exit status 7", "!REGRESSED")
	if n := strings.Count(dead.log.String(), "starting server"); n != 1 {
		t.Errorf("a server that does not start was started %d times", n)
	}
	if report := readText(t, filepath.Join(dead.outputs["folder"], "compare.xml")); !strings.Contains(report, `errors="1"`) || !strings.Contains(report, `<error message="FAILED">The server could not be measured: server: `) {
		t.Error(report)
	}
	job("pull_request", "feature").run(with(fastServer, "restarts", "1", "load", "--num-prompts 4 --random-input-len 8 --random-output-len 4 --strict")).wants("NO VERDICT", 3)
	job("pull_request", "feature").run(with(fastServer, "restarts", "1", "load", "--num-promts 4")).wants("FAILED", 2, "unknown flag --num-promts: did you mean --num-prompts?", "title=servebench FAILED::load: unknown flag --num-promts")
	job("pull_request", "feature").run(with(fastServer, "load", "num-promts: 4")).wants("FAILED", 2, "title=servebench FAILED::The server could not be measured: ", "num-promts", "## FAILED")
	job("pull_request", "feature").run(with("sleep 100")).wants("FAILED", 2, "title=servebench FAILED::The server could not be measured: ", "## FAILED")

	// A run on the default branch keeps the baseline from expiring, as it was.
	job("push", "main").run(with(slowServer)).wants("REGRESSED", 1)
	job("schedule", "main").run(with(fastServer)).wants("PASS", 0)
	if kept := slices.Compact(first.github.baselines()); len(kept) != 1 {
		t.Errorf("%d different baselines, and one was made", len(kept))
	}
}

// Only what a successful run on the default branch has left is a baseline.
func TestActionTakesNoBaselineFromElsewhere(t *testing.T) {
	job := newJobs(t)
	t.Parallel()
	good := job("push", "main")
	g, made := good.github, filepath.Join(t.TempDir(), "baseline.jsonl")
	leave := func(event, ref, text string, change func(run, artifact map[string]any)) {
		if err := os.WriteFile(made, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		id := g.begin(job(event, ref))
		g.upload(id, "servebench-baseline", made)
		g.end(id, true)
		artifact := g.Artifacts[len(g.Artifacts)-1]
		change(g.run(id), artifact)
		g.save()
	}
	of := func(artifact map[string]any) map[string]any { return artifact["workflow_run"].(map[string]any) }
	leave("push", "main", "good", func(_, _ map[string]any) {})
	leave("pull_request", "main", "of a fork", func(run, artifact map[string]any) { of(artifact)["head_repository_id"] = fork })
	leave("push", "feature", "of another branch", func(_, _ map[string]any) {})
	leave("push", "main", "expired", func(_, artifact map[string]any) { artifact["expired"] = true })
	leave("push", "main", "of a run that failed", func(run, _ map[string]any) { run["conclusion"] = "failure" })
	leave("pull_request_target", "main", "of a pull request", func(_, _ map[string]any) {})
	leave("issue_comment", "main", "of a comment on a pull request", func(_, _ map[string]any) {})
	found := job("pull_request", "feature").run(with(fastServer, "restarts", "1"))
	found.wants("FAILED", 2, "The baseline servebench-baseline is from run 100.", "it is not a baseline", "title=servebench FAILED::", "## FAILED")
	if text := readText(t, filepath.Join(found.temp, "servebench-baseline", "baseline", "baseline.jsonl")); text != "good" {
		t.Errorf("the baseline is %q", text)
	}
}

// A baseline that can give no verdict is not made, or says so; nor is there one on another machine.
func TestActionSaysWhatABaselineCannotGive(t *testing.T) {
	job := newJobs(t)
	t.Parallel()
	broken := job("push", "main").run(with(fastServer+" --fault status=500", "update-baseline", "true"))
	broken.wants("FAILED", 1, "::error title=servebench FAILED::The server could not be measured: server: all of 4 requests failed: 500 Internal Server Error", "## FAILED", "!BASELINE")
	unmade := job("push", "main").run(with(fastServer+" --fault status=500 --fault-every 2", "restarts", "1", "update-baseline", "true"))
	unmade.wants("NO VERDICT", 3, "::warning title=servebench NO VERDICT::the session was not kept: run 1: 2 of 4 requests failed", "## NO VERDICT", "!nothing to compare")
	if report := readText(t, filepath.Join(unmade.outputs["folder"], "compare.xml")); !strings.Contains(report, `<error message="NO VERDICT">the session was not kept: `) {
		t.Error(report)
	}
	gate := filepath.Join(unmade.workspace, "gate.yml")
	if err := os.WriteFile(gate, []byte("margin: {output_throughput: 900%, median_ttft: 900%, median_tpot: 900%}\ndespite: [suspect]\nunit: start\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	few := job("push", "main")
	few.workspace = unmade.workspace
	few.run(with(fastServer, "restarts", "2", "update-baseline", "true")).wants("BASELINE UPDATED", 0,
		"::warning title=servebench BASELINE UPDATED::the baseline has 2 server starts, and the gate needs 6")
	if report := readText(t, filepath.Join(few.outputs["folder"], "compare.xml")); !strings.Contains(report, `errors="0"`) {
		t.Error(report)
	}
	moved := job("pull_request", "feature")
	moved.env = append(moved.env, "RUNNER_NAME=runner 2")
	moved.run(with(fastServer, "restarts", "1")).wants("NO VERDICT", 3, "not comparable: host is runner 1 in the old runs and runner 2 in the new ones")
}

// A run on the default branch may be one more session of the baseline, unless it is worse.
func TestActionKeepsAChain(t *testing.T) {
	job := newJobs(t)
	t.Parallel()
	first := job("schedule", "main")
	gate := "margin: {mean_e2el: 400%}\nadvisory: [output_throughput, median_ttft, median_tpot]\ndespite: [suspect]\n"
	if err := os.WriteFile(filepath.Join(first.workspace, "days.yml"), []byte(gate), 0o600); err != nil {
		t.Fatal(err)
	}
	keep := func(server string) *workflowJob {
		j := job("schedule", "main")
		j.workspace = first.workspace
		return j.run(with(server, "restarts", "1", "gate", "days.yml", "update-baseline", "append", "sessions", "4"))
	}
	for i := range 4 {
		keep(fastServer).wants("BASELINE UPDATED", 0, "## BASELINE UPDATED", "baseline.jsonl: "+metrics.Counted(i+1, "session"), "!REGRESSED")
	}
	keep(fastServer).wants("PASS", 0, "## PASS", "baseline.jsonl: 5 sessions, 5 runs", "whose newest session is of 20")
	keep(slowServer).wants("REGRESSED", 1, "::error title=servebench REGRESSED::mean_e2el +", "!baseline.jsonl:")
	kept := first.github.baselines()
	if lines := strings.Count(kept[len(kept)-1], "\n"); lines != 4 {
		t.Errorf("%d sessions, and 4 were asked for", lines)
	}
}

// Two servers in turns need no baseline.
func TestActionComparesTwoServers(t *testing.T) {
	job := newJobs(t)
	t.Parallel()
	job("pull_request", "feature").run(with(slowServer, "old-server", fastServer, "token", "")).wants("REGRESSED", 1, "!BASELINE")
	job("pull_request", "feature").run(with(fastServer, "old-server", fastServer, "token", "", "load", "# two loads\n--num-prompts 2,4 --random-input-len 8 \\\n  --random-output-len 4 --label 'a b'")).
		wants("PASS", 0, "### num-prompts 2", "### num-prompts 4")
	job("pull_request", "feature").run(with(fastServer, "old-server", fastServer, "load", "--num-prompts 2 --header X-Key=secret")).wants("FAILED", 2, "load: write it as YAML", "!X-Key=secret")
	job("pull_request", "feature").run(with(fastServer, "old-server", fastServer, "token", "")).wants("PASS", 0)
}

// An image is started for each run, and stopped. There is no Docker daemon here: a
// stand-in for the docker command takes its place.
func TestActionStartsImages(t *testing.T) {
	job := newJobs(t)
	t.Parallel()
	inputs := with("", "image", "example/server:1", "docker-run", "--gpus all\n--ipc=host", "image-args", "--step-base 40ms", "update-baseline", "true")
	made := job("push", "main").run(inputs)
	made.wants("BASELINE UPDATED", 0)
	var calls []string
	for call := range strings.Lines(readText(t, filepath.Join(strings.TrimPrefix(made.env[0], "FAKE_DOCKER="), "calls"))) {
		calls = append(calls, strings.TrimSpace(call))
	}
	want := []string{`docker image inspect example/server:1`, `docker pull --quiet example/server:1`}
	for range 6 {
		want = append(want, `docker run --rm --name servebench-PORT --publish 127.0.0.1:PORT:8000 --gpus all --ipc=host example/server:1 --step-base 40ms`, `docker stop servebench-PORT`)
	}
	for i, call := range calls {
		for word := range strings.FieldsSeq(strings.ReplaceAll(call, ":", " ")) {
			if name, ok := strings.CutPrefix(word, "servebench-"); ok {
				calls[i] = strings.ReplaceAll(call, name, "PORT")
			}
		}
	}
	if !slices.Equal(calls, want) {
		t.Errorf("%q, want %q", calls, want)
	}
	inputs["update-baseline"], inputs["image-args"] = "false", "--step-base 1s"
	job("pull_request", "feature").run(inputs).wants("REGRESSED", 1)
}

// A release is taken by its checksum alone.
func TestActionInstallsReleases(t *testing.T) {
	job := newJobs(t)
	t.Parallel()
	program, err := exec.LookPath("servebench")
	if err != nil {
		t.Fatal(err)
	}
	const name = "servebench-1.2.3-linux-amd64"
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", program)
	if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name, "servebench"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, name+".tar.gz")
	if text, err := exec.Command("tar", "-czf", archive, "-C", dir, name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	releases := http.NewServeMux()
	releases.HandleFunc("/v1.2.3/"+name+".tar.gz", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, archive) })
	server := httptest.NewServer(releases)
	t.Cleanup(server.Close)
	sum := sha256.Sum256([]byte(readText(t, archive)))
	take := func(version, sum string) *workflowJob {
		return job("pull_request", "feature").run(with("exit 7 # ${port}", "binary", "", "version", version, "sha256", sum, "releases", server.URL))
	}
	take("1.2.3", hex.EncodeToString(sum[:])).wants("FAILED", 1, "servebench version ", "exit status 7")
	take("1.2.3", strings.Repeat("0", 64)).wants("FAILED", 2, "has the checksum "+hex.EncodeToString(sum[:]))
	take("1.2.3", "").wants("FAILED", 2, "give version and sha256")
	take("1.2.4", hex.EncodeToString(sum[:])).wants("FAILED", 22, "title=servebench FAILED::downloading ", "is 1.2.4 a release?", "## FAILED")
}
