// Waterfall compares the spans of requests, as servebench measures them, with the request log of the
// simulator, which knows when it did what. Both run as separate processes, in real time, over loopback.
//
//	waterfall -program bin/servebench -requests 1000
//
// It ends with 1 if a span of one request in a hundred is off by more than 0.2 ms. A busy machine
// delays either process at any time, so measure on a quiet one.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// limit is how far the 99th percentile of a span's errors may be off, in milliseconds.
const limit = 0.2

func main() {
	log.SetFlags(0)
	log.SetPrefix("waterfall: ")
	program := flag.String("program", "bin/servebench", "`path` of servebench")
	requests := flag.Int("requests", 1000, "`number` of requests of a load")
	flag.Parse()
	dir, err := os.MkdirTemp("", "waterfall")
	if err != nil {
		log.Fatal(err)
	}
	good, err := compare(*program, dir, *requests, os.Stdout)
	os.RemoveAll(dir)
	if err != nil {
		log.Fatal(err)
	}
	if !good {
		log.Fatalf("a span of one request in a hundred is off by more than %v ms", limit)
	}
}

// loads are the flags of the loads, by name.
var loads = []struct{ name, flags string }{
	{"one at once", "--max-concurrency 1"},
	{"8 at once", "--max-concurrency 8"},
	{"50 a second", "--request-rate 50"},
	{"chats, 50 a second", "--request-rate 50 --backend openai-chat --endpoint /v1/chat/completions"},
}

// compare sends each load and prints a table. It reports whether all errors are within the limit.
func compare(program, dir string, requests int, out io.Writer) (good bool, err error) {
	good = true
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "load\tspan\trequests\tmean, ms\terror: median, ms\tp99\tmax\t")
	for i, load := range loads {
		all, err := measure(program, filepath.Join(dir, fmt.Sprint(i)),
			fmt.Sprintf("--num-prompts %d %s", requests, load.flags))
		if err != nil {
			return false, fmt.Errorf("%s: %w", load.name, err)
		}
		for _, e := range all {
			fmt.Fprintf(table, "%s\t%v\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t\n", load.name, e.span, e.requests, e.mean, e.at(50),
				e.at(99), e.at(100))
		}
		good = good && worst(all, 99).at(99) <= limit
	}
	return good, table.Flush()
}

// measure sends a load to a new simulator and compares what both wrote into a new folder.
func measure(program, dir, load string) (all []*errorOf, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	server := exec.Command(program, "sim", "--port", "0", "--front-end", "2ms", "--max-num-seqs", "6",
		"--enable-per-request-metrics", "--request-log", path("log"), "--ready-file", path("url"))
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return nil, err
	}
	defer server.Wait()
	defer server.Process.Kill()
	url, err := ready(path("url"))
	if err != nil {
		return nil, err
	}
	// The simulator answers all requests before the run ends, and logs each before it ends the answer.
	client := exec.Command(program, append([]string{"run", "--base-url", url, "--random-input-len", "100",
		"--random-output-len", "16",
		"--disable-tqdm", "--request-id-prefix", "r-", "-o", path("records")}, strings.Fields(load)...)...)
	client.Stderr = os.Stderr
	if err := client.Run(); err != nil {
		return nil, err
	}
	records, err := os.Open(path("records"))
	if err != nil {
		return nil, err
	}
	defer records.Close()
	truths, err := os.Open(path("log"))
	if err != nil {
		return nil, err
	}
	defer truths.Close()
	return errorsOf(records, truths)
}

// ready waits until a server has written its URL to a file.
func ready(file string) (url string, err error) {
	for range 1000 {
		if text, err := os.ReadFile(file); err == nil {
			return strings.TrimSpace(string(text)), nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", fmt.Errorf("the simulator has not written %s within 10 s", file)
}
