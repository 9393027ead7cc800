//go:build live && linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const dashboard = "../../examples/dashboard/"

// The alert rules of examples/dashboard are right, and fire when they should.
func TestLiveAlertsFire(t *testing.T) {
	need(t, "promtool")
	command(t, "promtool", "check", "rules", dashboard+"rules.yml")
	command(t, "promtool", "test", "rules", "testdata/live/rules_test.yml")
}

// Prometheus, with the configuration in examples/dashboard, has data for each panel of the
// dashboard during a run with a warm-up, failures and two targets.
func TestLiveDashboardShowsARun(t *testing.T) {
	need(t, "promtool")
	need(t, "prometheus")
	ctx, stop := context.WithCancel(t.Context())
	sim, waitForSim := startSim(t, ctx, "--step-base", "1ms", "--fault", "status", "--fault-every", "7")
	run := startWatchedRun(t, ctx, "--target a="+sim+" --target b="+sim+
		" --num-prompts 100000 --num-warmups 5 --request-rate 50 --max-concurrency 5 --random-input-len 20 --random-output-len 10")
	p := startPrometheus(t, ctx, run.address)

	lint := exec.CommandContext(ctx, "promtool", "check", "metrics")
	lint.Stdin = strings.NewReader(get(t, "http://"+run.address+"/metrics"))
	if said, err := lint.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, said)
	}
	for title, expressions := range panels(t) {
		for _, e := range expressions {
			if !eventually(func() bool { return p.answers(t, e) }) {
				t.Errorf("%s: there is no data for %s", title, e)
			}
		}
	}
	var targets struct{ Data []string }
	p.query(t, "label/target/values?match[]=servebench_requests_sent_total", &targets)
	if got := strings.Join(targets.Data, " "); got != "a b" {
		t.Errorf("the dashboard offers the targets %q", got)
	}
	stop()
	if err, exit := run.wait(), (exitError{}); !errors.As(err, &exit) || exit.code != exitInterrupted {
		t.Errorf("the run: %v\n%s", err, run.talk)
	}
	if err := waitForSim(); err != nil {
		t.Error(err)
	}
}

// need skips a test without a program of Debian's package prometheus.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("there is no %s: apt-get install prometheus", program)
	}
}

// A watchedRun is a run that serves metrics.
type watchedRun struct {
	address string // of the metrics
	talk    *lockedBuffer
	wait    func() error
}

func startWatchedRun(t *testing.T, ctx context.Context, flags string) watchedRun {
	t.Helper()
	o := mustParse(t, flags+" --disable-tqdm --metrics-addr 127.0.0.1:0")
	talk, ended := new(lockedBuffer), make(chan error, 1)
	go func() { ended <- newExperiment(o, io.Discard, talk).run(ctx) }()
	var found []string
	if !eventually(func() bool { found = metricsAddress.FindStringSubmatch(talk.String()); return found != nil }) {
		t.Fatalf("no metrics are served; said:\n%s", talk)
	}
	address, err := url.Parse(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return watchedRun{address.Host, talk, func() error { return <-ended }}
}

// panels are the expressions of each panel of the dashboard, as Grafana sends them where
// all arms and targets are chosen.
func panels(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(dashboard + "grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	chosen := strings.NewReplacer("$arm", ".*", "$target", ".*", "$__rate_interval", "5s")
	all := map[string][]string{}
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			all[panel.Title] = append(all[panel.Title], chosen.Replace(target.Expr))
		}
		if all[panel.Title] == nil {
			t.Errorf("%s shows nothing", panel.Title)
		}
	}
	return all
}

// A promServer is a Prometheus at an address.
type promServer struct{ address string }

// startPrometheus starts one that scrapes an address, until ctx ends.
func startPrometheus(t *testing.T, ctx context.Context, scraped string) promServer {
	t.Helper()
	text, err := os.ReadFile(dashboard + "prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := filepath.Abs(dashboard + "rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer("127.0.0.1:9464", scraped, "[rules.yml]", "['"+rules+"']").Replace(string(text))
	file := filepath.Join(t.TempDir(), "prometheus.yml")
	said, err := checkConfig(t, file, config)
	if strings.Contains(said, "scrape_native_histograms not found") { // before 3.8
		config = strings.Replace(config, "scrape_native_histograms: true\n", "\n", 1)
		said, err = checkConfig(t, file, config)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := promServer{l.Addr().String()}
	l.Close()
	cmd := exec.CommandContext(ctx, "prometheus", "--config.file", file, "--storage.tsdb.path", filepath.Join(t.TempDir(), "data"), "--web.listen-address", p.address)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // also if the test is killed
	var talk strings.Builder
	cmd.Stdout, cmd.Stderr = &talk, &talk
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.Wait(); t.Failed() {
			t.Log(talk.String())
		}
	})
	return p
}

// checkConfig writes a configuration of Prometheus and checks it.
func checkConfig(t *testing.T, file, config string) (said string, err error) {
	t.Helper()
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "promtool", "check", "config", file).CombinedOutput()
	return string(out), err
}

// answers says whether an expression has a value other than NaN.
func (p promServer) answers(t *testing.T, expression string) bool {
	t.Helper()
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if !p.query(t, "query?query="+url.QueryEscape(expression), &answer) {
		return false
	}
	for _, r := range answer.Data.Result {
		if r.Value[1] != "NaN" {
			return true
		}
	}
	return false
}

// query asks for JSON. It says whether there was an answer: there is none until
// Prometheus is ready.
func (p promServer) query(t *testing.T, what string, answer any) bool {
	t.Helper()
	reply, err := http.Get("http://" + p.address + "/api/v1/" + what)
	if err != nil {
		return false
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode == http.StatusServiceUnavailable {
		return false
	}
	if err := json.Unmarshal(text, answer); err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %v\n%s", what, reply.Status, err, text)
	}
	return true
}

func get(t *testing.T, url string) string {
	t.Helper()
	reply, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
