package main

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"time"
)

func TestSilentServerIsNamed(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	url := "http://" + silent.Addr().String()
	for _, argv := range []string{"", "--model m --tokenizer stub-100"} {
		o, err := parseRun(append(strings.Fields(argv), "--base-url", url))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		b := &bench{options: o, out: &out, talk: &out, patience: 20 * time.Millisecond}
		err = b.run(t.Context())
		if err == nil || !strings.Contains(err.Error(), url+"/v1/models: no answer within 20ms") {
			t.Errorf("%q: %v", argv, err)
		}
	}
}
