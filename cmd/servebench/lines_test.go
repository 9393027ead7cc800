package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is printed before the block is what the release of --vllm-version printed.
func TestLinesBeforeTheBlockAreTheReleases(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	const (
		align   = "WARNING: /tokenize unavailable"
		warning = "WARNING: vllm bench serve no longer"
		test    = "Starting initial single prompt test run...|"
		wait    = "Waiting for endpoint to become up in 5 seconds|Initial test run completed."
		warm    = "|Warming up with 1 requests...|Warmup run completed."
		main    = "|Starting main benchmark run...|"
		traffic = "Traffic request rate: inf|Burstiness factor: 1.0 (Poisson process)|Maximum request concurrency: None"
		probe   = "|Probe request rate: 1000.0 req/s"
	)
	for version, want := range map[string]string{
		"0.9.2":  test + "Initial test run completed. Starting main benchmark run...|" + traffic,
		"0.10.2": test + wait + " Starting main benchmark run...|" + traffic,
		"0.11.0": test + wait + main + traffic,
		"0.11.1": test + wait + warm + main + traffic,
		"0.15.0": warning + "|" + test + wait + warm + main + traffic,
		"0.24.0": align + "|" + warning + "|" + test + wait + warm + main + traffic,
		"latest": align + "|" + warning + "|" + test + wait + warm + main + traffic + probe,
	} {
		server := httptest.NewServer(new(wireRecorder))
		o := mustParse(t, "--model m --tokenizer ../../testdata/golden/tok-plain --random-input-len 6 --random-output-len 2 --num-prompts 1 "+
			"--ready-check-timeout-sec 5 --num-warmups 1 --probe-request-rate 1000 --disable-tqdm --vllm-version "+version+" --base-url", server.URL)
		var out bytes.Buffer
		err := newExperiment(o, &out, io.Discard).run(t.Context())
		server.Close()
		if err != nil {
			t.Fatal(err)
		}
		before, _, _ := strings.Cut(out.String(), "\n====")
		lines := strings.Split(before, "\n")
		for i, line := range lines {
			for _, long := range []string{align, warning} {
				if strings.HasPrefix(line, long) {
					lines[i] = long
				}
			}
		}
		if diff := cmp.Diff(strings.Split(want, "|"), lines); diff != "" {
			t.Errorf("%s (-want +got):\n%s", version, diff)
		}
	}
}

func TestWhyPromptsAreNotAlignedIsSaidAsVLLMSaysIt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for _, row := range []struct {
		version string
		status  int
		reply   string
		want    string
	}{
		{"latest", 404, "", "/tokenize unavailable (404 Not Found: either this server has no /tokenize route, or it does not serve a model named `m` (its served names are listed by GET /v1/models))"},
		{"latest", 501, "no", "/tokenize unavailable (HTTP 501)"},
		{"latest", 200, `{"ids": []}`, `/tokenize probe failed (the reply of URL/tokenize has no "tokens")`},
		{"latest", 0, "", "URL unreachable (URL/tokenize: the connection was cut before the reply: EOF)"},
		{"0.32.0", 404, "", "/tokenize unavailable"},
		{"0.24.0", 0, "", "/tokenize unavailable"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != "/tokenize":
				http.NotFound(w, r)
			case row.status == 0:
				panic(http.ErrAbortHandler)
			default:
				w.WriteHeader(row.status)
				fmt.Fprint(w, row.reply)
			}
		}))
		o := mustParse(t, "--model m --tokenizer stub-100 --random-input-len 6 --num-prompts 1 --vllm-version "+row.version+" --base-url", server.URL)
		var out bytes.Buffer
		if err := newExperiment(o, &out, io.Discard).run(t.Context()); err == nil {
			t.Error("every request fails, and so does the run")
		}
		server.Close()
		got, _, _ := strings.Cut(strings.ReplaceAll(out.String(), server.URL, "URL"), "\n")
		if want := "WARNING: " + row.want + ", skipping alignment."; got != want {
			t.Errorf("%s, %d:\ngot  %s\nwant %s", row.version, row.status, got, want)
		}
	}
}
