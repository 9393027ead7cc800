package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// speechCache puts the two repositories of the golden runs into the cache of Hugging Face: one has its sounds
// in its rows, and one in files.
func speechCache(t *testing.T) {
	t.Helper()
	type sound struct {
		Bytes []byte `parquet:"bytes,optional"`
		Path  string `parquet:"path,optional"`
	}
	type row struct {
		Audio sound `parquet:"audio"`
	}
	snapshot := func(repository string) string {
		folder := filepath.Join(os.Getenv("HF_HOME"), "hub", "datasets--"+repository, "snapshots", strings.Repeat("0", 40))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	files := snapshot("ArtificialAnalysis--Earnings22-Cleaned-AA")
	var rows []row
	var lines strings.Builder
	for i := range 7 {
		name := fmt.Sprintf("u%d.wav", i)
		data, err := os.ReadFile("asr/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(files, name), data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row{sound{data, name}})
		fmt.Fprintf(&lines, `{"url": %q, "transcript": "x"}`+"\n", name)
	}
	err := os.WriteFile(filepath.Join(files, "train.jsonl"), []byte(lines.String()), 0o666)
	if err == nil {
		err = parquet.WriteFile(filepath.Join(snapshot("openslr--librispeech_asr"), "train.parquet"), rows)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSpeechIsSentAsByVLLM033(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	var file struct{ Cases []wireCase }
	readGolden(t, "asr.json", &file)
	if len(file.Cases) != 11 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			inInputs(t)
			speechCache(t)
			// The golden cases have the transcriptions alone.
			only := func(calls []wireCall) []wireCall {
				return slices.DeleteFunc(slices.Clone(calls), func(c wireCall) bool { return c.Path == "/metrics" })
			}
			recorder := new(wireRecorder)
			server := httptest.NewServer(recorder)
			defer server.Close()
			err := c.run(t, server.URL)
			calls := only(recorder.calls)
			if c.Exception != "" {
				if err == nil || !strings.Contains(err.Error(), "--asr-min-audio-len-sec") || len(calls) > 0 {
					t.Errorf("%v after %+v; vLLM ends with %s", err, calls, c.Exception)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := only(c.Requests)
			if diff := cmp.Diff(sorted(want).generations, sorted(calls).generations); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(lengthsOf(want), lengthsOf(calls)); diff != "" {
				t.Errorf("lengths: -want +got:\n%s", diff)
			}
		})
	}
}

// lengthsOf are the lengths of requests by their ids: boundaries differ, and are as long.
func lengthsOf(calls []wireCall) map[string]string {
	all := map[string]string{}
	for _, call := range calls {
		headers := map[string]string{}
		for _, h := range call.Headers {
			headers[http.CanonicalHeaderKey(h[0])] = h[1]
		}
		all[headers["X-Request-Id"]] = headers["Content-Length"]
	}
	return all
}
