package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

// writeShards writes the streams of a run's shards into files, and a whole run's.
func writeShards(t *testing.T, dir string) (shards []string, whole string) {
	t.Helper()
	for shard := range 3 {
		h := metrics.Header{Run: "r", Shard: shard, Shards: 3, Host: "n1", Epoch: time.Unix(1000, int64(shard)*1e6)}
		shards = append(shards, writeStream(t, filepath.Join(dir, "shard-"+string(rune('0'+shard))+".jsonl"), h))
	}
	return shards, writeStream(t, filepath.Join(dir, "whole.jsonl"), metrics.Header{Run: "w", Epoch: time.Unix(1000, 0)})
}

func writeStream(t *testing.T, name string, h metrics.Header) string {
	t.Helper()
	var text bytes.Buffer
	w, c := stream.NewWriter(&text), aspect.Collector(&h)
	err := w.Begin(&h)
	for i := range 4 {
		sent := time.Duration(i) * time.Second / 7
		r := &record.Record{Run: h.Run, Index: 4*h.Shard + i, Tokens: record.Tokens{In: 10, Out: 1}, Times: record.Times{Due: sent, Slot: sent, Sent: sent, Last: sent + 5e6, End: sent + 5e6}}
		r.Answer.Chunks.Append(r.Times.Last)
		c.Add(r)
		err = errors.Join(err, w.Write(r))
	}
	if err := errors.Join(err, w.End(c.Summary(2)), os.WriteFile(name, text.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestShardsInFilesAreReportedAsOneRun(t *testing.T) {
	shards, whole := writeShards(t, t.TempDir())
	var cat string
	for _, name := range shards {
		cat += readFile(t, name)
	}
	for _, format := range []string{"block", "json"} {
		one, oneTalk, err := reportOf(cat, "--format", format, "--save-detailed")
		if err != nil {
			t.Fatal(err)
		}
		alone, aloneTalk, err := reportOf("", "--format", format, "--save-detailed", whole)
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"--format", format, "--save-detailed", shards[1], whole, shards[2], shards[0]}
		out, talk, err := reportOf("", args...)
		// Among several each has its name, in front of its block and of its verdict.
		_, rest, found := strings.Cut(out, one)
		if err != nil || !found || !strings.HasSuffix(rest, alone) || strings.Count(talk, "VALID: "+shards[1]+" and 2 more files (") != 1 || strings.Count(talk, "VALID: "+whole+" (") != 1 {
			t.Errorf("%v\n%s\n%s\nwant\n%s\n%s", err, out, talk, one+alone, oneTalk+aloneTalk)
		}
	}
}

func TestWhatIsAmissWithShardFilesNamesThem(t *testing.T) {
	shards, _ := writeShards(t, t.TempDir())
	torn := readFile(t, shards[0])
	torn = torn[:len(torn)-5] // the next file must not go on where it ends
	if err := os.WriteFile(shards[0], []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	out, talk, err := reportOf("", "--format", "json", shards[0], shards[2])
	said := "WARNING: " + shards[0] + " and 1 more file: run r: the files lack shard 1 of 3\n"
	if err != nil || !strings.Contains(talk, said) || !strings.Contains(talk, "left out 1 torn or damaged line") || !strings.Contains(talk, "\nSUSPECT: the files lack shard 1 of 3; shard 0 (host n1) was cut") {
		t.Errorf("%v\n%s", err, talk)
	}
	for _, part := range []string{`"shards": 3, "sound_shards": 1`, `"incomplete": ["run r: the files lack shard 1 of 3", "run r: shard 0 (host n1) was cut`} {
		if !strings.Contains(out, part) {
			t.Errorf("%s is not in\n%s", part, out)
		}
	}
}
