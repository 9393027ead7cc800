package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSecretsThatTheServerQuotesAreNotShown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, fmt.Sprintf("no such key: %s, %s", r.Header.Get("Authorization"), r.Header.Get("X-Key")), http.StatusUnauthorized)
	}))
	defer server.Close()
	t.Setenv("OPENAI_API_KEY", "s3cret-key")
	dir := t.TempDir()
	argv := []string{"--model", "m", "--base-url", server.URL, "--header", "X-Key=s3cret-value", "--num-prompts", "2", "--prompt-token-ids",
		"--disable-tqdm", "--save-result", "--save-detailed", "--result-dir", dir, "--result-filename", "r.json", "-o", filepath.Join(dir, "r.jsonl")}
	o, err := parseRun(argv)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = newExperiment(o, &out, &out).run(t.Context())
	shown := fmt.Sprint(err, out.String())
	for _, name := range []string{"r.json", "r.jsonl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		shown += string(text)
	}
	if strings.Contains(shown, "s3cret") || strings.Count(shown, "no such key: Bearer <redacted>, <redacted>") < 4 {
		t.Errorf("shown: %s", shown)
	}
}

func TestSilentServerIsNamed(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	url := "http://" + silent.Addr().String()
	for argv, path := range map[string]string{"": "/v1/models", "--model m --tokenizer stub-100": "/metrics"} {
		o, err := parseRun(append(strings.Fields(argv), "--base-url", url))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		o.Plan.Limits.Call = 20 * time.Millisecond
		e := newExperiment(o, &out, &out)
		err = e.run(t.Context())
		if err == nil || !strings.Contains(err.Error(), url+path+": no answer within 20ms") {
			t.Errorf("%q: %v", argv, err)
		}
	}
}
