// Delayproxy makes a server slower by a known share or time, and writes down when requests and
// answers passed it. It is for tests: what a comparison or a waterfall says about a server can
// then be held against the truth.
//
//	delayproxy --listen 127.0.0.1:8001 --to http://127.0.0.1:8000 --stretch 10% --log stamps.jsonl [-- COMMAND…]
//
// With a COMMAND it starts the server, and both end together.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("delayproxy: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("delayproxy", flag.ExitOnError)
	listen := flags.String("listen", "127.0.0.1:0", "listen at this `address`")
	to := flags.String("to", "", "the server's `URL`")
	file := flags.String("log", "", "write the stamps of each request to this `file`, as JSON lines")
	ready := flags.String("ready-file", "", "write the URL of the proxy to this `file` once it listens")
	var slow slowdown
	flags.Func("stretch", "`share` by which all times of an answer get longer, such as 10%",
		func(text string) (err error) {
			slow.share, err = percent(text)
			return err
		})
	flags.DurationVar(&slow.delay, "delay", 0, "`time` by which all bytes of an answer come later, such as 5ms")
	flags.Parse(args)
	server, err := url.Parse(*to)
	switch {
	case err != nil:
		return err
	case server.Host == "":
		return fmt.Errorf("--to %q: give the server's URL, such as http://127.0.0.1:8000", *to)
	case slow.delay < 0:
		return fmt.Errorf("--delay %v: the time must be at least 0", slow.delay)
	}
	p := &proxy{to: server, slow: slow, wait: sleepUntil,
		transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 1 << 16}}
	if *file != "" {
		f, err := os.OpenFile(*file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		defer f.Close()
		p.log = f
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	if *ready != "" {
		if err := os.WriteFile(*ready, []byte("http://"+l.Addr().String()), 0o666); err != nil {
			return err
		}
	}
	return serve(ctx, l, p.handler(), flags.Args())
}

// serve serves until ctx or the command ends.
func serve(ctx context.Context, l net.Listener, h http.Handler, command []string) error {
	s := &http.Server{Handler: h}
	ended := make(chan error, 2)
	go func() { ended <- s.Serve(l) }()
	if len(command) == 0 {
		context.AfterFunc(ctx, func() { s.Close() })
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	err := c.Run()
	s.Close()
	<-ended
	switch {
	case ctx.Err() != nil:
		return nil
	case err == nil:
		return fmt.Errorf("%s ended", command[0])
	}
	return fmt.Errorf("running %s: %w", command[0], err)
}

// percent reads a share such as 10% or 0.1.
func percent(text string) (float64, error) {
	digits, isPercent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(digits, 64)
	if isPercent {
		share /= 100
	}
	if err != nil || !(share >= 0 && share <= 100) {
		return 0, errors.New("give a share of at least 0, such as 10%")
	}
	return share, nil
}

// A slowdown says how much later a byte of an answer is passed on. The zero value passes it at once.
type slowdown struct {
	share float64
	delay time.Duration
}

// due is when a byte that came from the server at this time is passed on. It counts from the arrival
// of the request, so the errors of single waits do not add up.
func (s slowdown) due(received, came time.Time) time.Time {
	return came.Add(time.Duration(s.share*float64(came.Sub(received))) + s.delay)
}
