package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/servebench/servebench/loadgen/redact"
	"github.com/servebench/servebench/metrics"
)

func TestTargetsTakeFlagsOfTheirOwn(t *testing.T) {
	o := mustParse(t, "--num-prompts 5 --request-rate 2 --seed 9 --save-result --result-filename out/r.json",
		"--target", "a=http://h:1", "b=http://h:2/v,request-rate=7.5,num_prompts=3,extra-body={\"a\":1,\"b\":2},delay=2,model=m", "--target", "c-1=https://h")
	if len(o.Targets) != 3 {
		t.Fatalf("%d targets", len(o.Targets))
	}
	a, b, c := o.Targets[0], o.Targets[1], o.Targets[2]
	if a.Plan.Target != "a" || a.Plan.Server.BaseURL != "http://h:1" || a.Plan.Workload.NumPrompts != 5 || a.Plan.Traffic.RequestRate != 2 || a.Results.Filename != "out/r-a.json" {
		t.Errorf("a: %+v", a)
	}
	if b.Plan.Target != "b" || b.Plan.Server.BaseURL != "http://h:2/v" || b.Plan.Workload.NumPrompts != 3 || b.Plan.Traffic.RequestRate != 7.5 || b.Plan.Server.Model != "m" ||
		b.Plan.Traffic.Delay.Seconds() != 2 || len(b.Plan.Sampling.ExtraBody) != 2 || b.Plan.Workload.Seed != 9 {
		t.Errorf("b: %+v", b)
	}
	if c.Plan.Target != "c-1" || c.Plan.Server.BaseURL != "https://h" {
		t.Errorf("c: %+v", c)
	}
	if i := slices.IndexFunc(b.Plan.Report.Metadata, func(kv metrics.KV) bool { return kv.Key == "target" }); i < 0 || b.Plan.Report.Metadata[i].Value != "b" {
		t.Errorf("metadata %v", b.Plan.Report.Metadata)
	}
}

func TestTargetsTakeRateCurvesWithCommas(t *testing.T) {
	for _, curve := range []string{
		"up-down:0,20,1,step=2", "points:0s=0,20s=20,39s=1", "steps:0s=5,60s=10", "sine:mean=10,amplitude=8,period=60s", "sine:period=60s,mean=10,amplitude=8",
	} {
		o := mustParse(t, "--target", "a=http://h:1,rate-curve="+curve+",num-prompts=9,delay=2s", "b=http://h:2")
		if a := o.Targets[0]; a.Plan.Traffic.Curve == nil || a.Plan.Traffic.Curve.String() != curve || a.Plan.Workload.NumPrompts != 9 || a.Plan.Traffic.Delay.Seconds() != 2 {
			t.Errorf("%s: %+v", curve, a.Plan.Traffic)
		}
		if o.Targets[1].Plan.Traffic.Curve != nil {
			t.Errorf("%s: b has it, too", curve)
		}
	}
}

func TestBadTargetsAreNamed(t *testing.T) {
	for _, row := range []struct {
		argv string
		says string
	}{
		{"--target a", `argument --target: 'a': it must be NAME=URL`},
		{"--target http://h:1", `argument --target: 'http://h:1': it must be NAME=URL`},
		{"--target a=h:x", `argument --target: a: argument --base-url: invalid port`},
		{"--target =http://h", `it must be NAME=URL`},
		{"--target ../a=http://h", `it must be NAME=URL`},
		{"--target a=http://h:1 a=http://h:2", `argument --target: two are named a`},
		{"--target a=http://h:1,nosuch=2", `argument --target: a: `},
		{"--target a=http://h:1,num-prompts=x", `argument --target: a: argument --num-prompts: `},
		{"--target a=http://h:1,save-result=1", `argument --target: a: --save-result is of the whole command`},
		{"--target a=http://h:1,repeat=2", `argument --target: a: --repeat is of the whole command`},
		{"--target a=http://h:1,target=b", `argument --target: a: --target is of the whole command`},
		{"--target a=http://h:1,config=x.yaml", `argument --target: a: --config is of the whole command`},
		{"--target a=http://h:1 --base-url http://h:2", `leave --base-url and --unix-socket away`},
		{"--target a=http://h:1 --solo-first", `argument --solo-first: it needs --target twice`},
		{"--solo-first", `argument --solo-first: it needs --target twice`},
		{"--repeat 0", `argument --repeat: 0: it must be from 1`},
		{"--repeat 2 --save-result --result-filename x.json", `argument --repeat: each would write over`},
	} {
		_, err := parseRun(strings.Fields(row.argv))
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want %s", row.argv, err, row.says)
		}
	}
}

func TestSecretsOfTargetsAreNotRecorded(t *testing.T) {
	o := mustParse(t, "--header X-All=s3cret-all", "--target", "a=http://me:s3cret-password@h:1,header=X-One=s3cret-one", "b=http://h:2")
	for _, o := range append(o.Targets, o) {
		for _, kv := range o.Plan.Flags {
			if strings.Contains(kv.Value, "s3cret") {
				t.Errorf("%s is recorded as %s", kv.Key, kv.Value)
			}
		}
	}
	if shown := o.Plan.Server.Secrets.Mask("s3cret-all s3cret-password s3cret-one"); strings.Contains(shown, "s3cret") {
		t.Errorf("%s is shown", shown)
	}
}

func TestBadTargetsTellNoPassword(t *testing.T) {
	for _, text := range []string{
		"http://me:s3cret@h:1", "http://me:s3cret=x@h:1", "a=me:s3cret@h:x", "a=//me:s3cret@h:1", "a b=http://me:s3cret@h:1", "a=me:s3cret@h:0,seed=2",
	} {
		_, err := parseRun([]string{"--target", text})
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What a dataset says while it is opened may come when the preparation is said to
// take long.
func TestPrefixedTakesLinesFromSeveralGoroutines(t *testing.T) {
	var b bytes.Buffer
	p := &prefixed{w: &b, prefix: "a: "}
	var writing sync.WaitGroup
	for range 8 {
		writing.Go(func() {
			for range 100 {
				fmt.Fprintf(p, "line\n")
			}
		})
	}
	writing.Wait()
	if n := strings.Count(b.String(), "a: line\n"); n != 800 || b.Len() != 800*len("a: line\n") {
		t.Errorf("%d lines, %d bytes", n, b.Len())
	}
}

func TestPrefixedWritesWholeLines(t *testing.T) {
	var b bytes.Buffer
	p := &prefixed{w: &b, prefix: "a: "}
	for _, piece := range []string{"one", " line\ntwo", "\n\n", "rest"} {
		if n, err := p.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := b.String(); got != "a: one line\na: two\na: \n" {
		t.Errorf("%q", got)
	}
}

func FuzzRedactTarget(f *testing.F) {
	f.Add("a", "h:1", "request-rate=5")
	f.Add("a.b-c", "[::1]:80/v1", "head=X=y,rate_curve=sine:mean=1,amplitude=2")
	f.Add("=", "h", ",,header=,")
	f.Fuzz(func(t *testing.T, name, host, rest string) {
		const secret = "s3cret/word"
		for _, text := range []string{
			name + "=http://me:" + secret + "@" + host + "," + rest,
			name + "=http://" + host + "," + rest + ",header=X=" + secret,
			name + "=http://" + host + ",head_er=X=" + secret + "," + rest,
		} {
			// Where the value begins elsewhere, it is no header's.
			if _, err := parseTarget(text); err != nil && redactTarget(text) != redact.Mark {
				t.Errorf("%q is no target and shown as %s", text, redactTarget(text))
			}
		}
		header := name + "=http://h:1,header=X=" + secret
		if shown := redactTarget(header); strings.Contains(shown, secret) {
			t.Errorf("%q is shown as %s", header, shown)
		}
		url := name + "=http://me:s3cret@h:1," + rest
		if shown := redactTarget(url); strings.Contains(shown, "s3cret@") {
			t.Errorf("%q is shown as %s", url, shown)
		}
	})
}
