// Peers compares servebench with other clients, against a server that notes what really happened,
// and writes docs/measured/clients.md and docs/measured/sessions.md. Run it in the repository's
// root:
//
//	make peers
//	make sessions
//
// Each takes a quarter of an hour, and with PEERS_QUICK=1 three minutes. It also prints what parts of
// servebench cost, compared with bare reading of sockets and with libraries for clients, and checks
// the figures against targets:
//
//	make bench
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/servebench/servebench/tools/peers/truth"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "serve":
		var s truth.Script
		if err = json.Unmarshal([]byte(os.Args[2]), &s); err == nil {
			err = truth.Serve(s, os.Stdin, os.Stdout)
		}
	case len(os.Args) == 4 && os.Args[1] == "child":
		err = work(os.Args[2], os.Args[3])
	default:
		err = peers()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func peers() error {
	var p programs
	quick := flag.Bool("quick", os.Getenv("PEERS_QUICK") != "", "measure less, and only print the page")
	only := flag.String("only", "", "measure only what has `TEXT` in its name, and keep the other results")
	turns := flag.Int("turns", 3, "run each client `N` times")
	kept := flag.String("results", filepath.Join("bin", "peers.json"), "keep the results in `FILE`")
	page := flag.String("page", filepath.Join("docs", "measured", "clients.md"), "write the page to `FILE`")
	flag.StringVar(&p.servebench, "servebench", filepath.Join("bin", "servebench"), "our `PROGRAM`")
	flag.StringVar(&p.vllm, "vllm", "", "virtual environment with vLLM's clients, a `FOLDER`")
	flag.StringVar(&p.aiperf, "aiperf", "", "AIPerf's `PROGRAM`")
	flag.StringVar(&p.multiTurn, "multi-turn", "", "vLLM's benchmarks/multi_turn, a `FOLDER`")
	replay := flag.Bool("sessions", false, "compare how the clients send sessions, and write that page")
	parts := flag.Bool("bench", false, "only measure what parts of servebench cost, and print it with targets")
	flag.Parse()
	if *quick {
		*turns = 1
	}
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := newBench(dir)
	if err != nil {
		return err
	}
	if *parts {
		return newPlan(b, p.servebench, *quick).print(os.Stdout, *only)
	}
	if b.clientCPU == b.serverCPU {
		return errors.New("client and server need a core each, and there is only one")
	}
	if *replay {
		return sessions(b, p, *quick, *only)
	}
	r, err := readReport(*kept, *only)
	if err != nil {
		return err
	}
	clients := p.clients()
	if len(clients) == 2 {
		return errors.New("no other client is installed: see the target peers of tools/peers.mk")
	}
	load := r.Machine.Load
	r.Machine, r.Versions = thisMachine(), p.versions()
	r.Machine.Load = max(r.Machine.Load, load)
	failed := r.measure(b, clients, measurements(*quick, *only), *turns)
	if err := r.keep(*kept); err != nil {
		return err
	}
	if *quick {
		return errors.Join(r.write(os.Stdout), failed)
	}
	f, err := os.Create(*page)
	if err != nil {
		return err
	}
	return errors.Join(r.write(f), f.Close(), failed)
}
