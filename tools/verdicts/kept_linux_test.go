package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/metrics/stream"
)

// recorded is the stream of a run of 40 requests in fake time, and what it measured, as the truth.
func recorded(t *testing.T) (records []byte, notes []note) {
	t.Helper()
	var text bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		keep := spool.To(&text)
		slots := 4
		plan := loadgen.Plan{
			Server:   loadgen.Server{Handler: server, Tokenizer: "stub-32000"},
			Workload: loadgen.Workload{NumPrompts: 40, Random: dataset.Random{InputLen: 20, OutputLen: 5}},
			Traffic:  loadgen.Traffic{MaxConcurrency: &slots},
			Keep:     loadgen.Keep{Records: keep},
		}
		if _, err := plan.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := keep.Close(spool.Waiting{}); err != nil {
			t.Fatal(err)
		}
	})
	for e, err := range stream.NewReader(bytes.NewReader(text.Bytes())).Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if r := e.Record; r != nil {
			at := r.Answer.Chunks.First()
			n := note{ID: r.ID, Received: r.Times.Sent, Writes: []time.Duration{at}}
			for gap := range r.Answer.Chunks.Gaps() {
				at += gap
				n.Writes = append(n.Writes, at)
			}
			notes = append(notes, n)
		}
	}
	return text.Bytes(), notes
}

// keep writes the folder of a run. The stream may be plain: what reads it looks at its content.
func keep(t *testing.T, dir string, a about, records []byte, notes []note) {
	t.Helper()
	var truth bytes.Buffer
	packed, err := zstd.NewWriter(&truth)
	if err != nil {
		t.Fatal(err)
	}
	for i := range notes {
		if err := json.NewEncoder(packed).Encode(&notes[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{recordsFile: records, truthFile: truth.Bytes(), aboutFile: text} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFolderJudgedTwiceGivesOneTable(t *testing.T) {
	records, notes := recorded(t)
	late := append([]note(nil), notes...)
	for i := range late {
		late[i].Received -= 20e6 // so TTFT and E2EL lack 20 ms
	}
	dir := t.TempDir()
	valid := about{Load: "a", Condition: "quiet", Verdict: "VALID: fine"}
	keep(t, filepath.Join(dir, "tune-1/a/quiet/0"), valid, records, notes)
	keep(t, filepath.Join(dir, "tune-1/a/plain/0"), about{Load: "a", Condition: "plain"}, records, late)
	keep(t, filepath.Join(dir, "tune-1/b/plain/0"), about{Load: "b", Condition: "plain", ExitCode: 2}, nil, nil)
	var tables [2]string
	for i := range tables {
		var out strings.Builder
		if err := runAndReport(t.Context(), []string{"-report", "-o", dir}, &out); err != nil {
			t.Fatal(err)
		}
		tables[i] = out.String()
	}
	if tables[0] != tables[1] {
		t.Errorf("first\n%s\nthen\n%s", tables[0], tables[1])
	}
	for _, want := range []string{"wrong", "tune-1/a/plain/0", "no numbers, so not counted: tune-1/b/plain/0"} {
		if !strings.Contains(tables[0], want) {
			t.Errorf("the table lacks %q:\n%s", want, tables[0])
		}
	}
	var out strings.Builder
	if err := runAndReport(t.Context(), []string{"-why", "a/plain/0", "-o", dir}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "mean_ttft_ms") || !strings.Contains(out.String(), "-20.000") {
		t.Errorf("why:\n%s", &out)
	}
	if err := runAndReport(t.Context(), []string{"-why", "c/plain/0", "-o", dir}, &out); err == nil {
		t.Error("a run that is not there is explained")
	}
}
