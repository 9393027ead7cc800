// Command embed runs a load test from a Go program: two servers on one clock, after a warm-up, with
// a record stream, and the verdict on each.
//
//	go run . http://127.0.0.1:8000 http://127.0.0.1:8001
//
// Without URLs it loads two simulated servers.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, urls []string) error {
	for range 2 - len(urls) {
		url, err := simulate()
		if err != nil {
			return err
		}
		urls = append(urls, url)
	}
	records, err := spool.Open("embed.jsonl", 0o666)
	if err != nil {
		return err
	}
	plan := loadgen.Plan{Keep: loadgen.Keep{Records: records}}
	for i, url := range urls {
		plan.Targets = append(plan.Targets, &loadgen.Plan{
			Target:   string(rune('a' + i)),
			Server:   loadgen.Server{BaseURL: url},
			Workload: loadgen.Workload{Random: dataset.Random{InputLen: 64, OutputLen: 16}},
			Traffic:  loadgen.Traffic{RequestRate: 20, WarmUp: time.Second, Duration: 2 * time.Second},
		})
	}
	sums, err := plan.Run(ctx, told{})
	if err != nil {
		return err
	}
	for _, s := range sums {
		fmt.Printf("%s: %d requests, median TTFT %.1f ms\n", s.Header.Target, s.Completed, s.TTFT.Percentile(50))
		if err := report.Verdict(os.Stdout, s); err != nil {
			return err
		}
	}
	return records.Close(spool.Waiting{Context: ctx})
}

// told prints what an Observer hears of a run.
type told struct{ loadgen.Quiet }

func (told) Remark(target, text string) { fmt.Printf("%s: %s\n", target, text) }

// simulate serves a simulated engine on a free port until the program ends.
func simulate() (url string, err error) {
	engine, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}})
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go http.Serve(listener, engine)
	return "http://" + listener.Addr().String(), nil
}
