package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/servebench/servebench/tools/peers/reading"
	"github.com/servebench/servebench/tools/peers/truth"
)

// A job is a measurement in a child process. Its fields go to the child as JSON and its result
// comes back as package gob writes it.
type job interface {
	run() (result any, err error)
}

// measure does j in a child, on one CPU or on any, and returns its result.
func measure[R any](cpu int, j job) (result R, err error) {
	arguments, err := json.Marshal(j)
	if err != nil {
		return result, err
	}
	self, err := os.Executable()
	if err != nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	name := fmt.Sprintf("%T", j)
	child := pinned(ctx, cpu, []string{self, "child", name, string(arguments)})
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(out)).Decode(&result)
	}
	if err != nil {
		return result, fmt.Errorf("%s: %w", name, err)
	}
	return result, nil
}

// work is the main function of a child.
func work(name, arguments string) error {
	for _, j := range []job{new(burstJob), new(liveJob), new(loadJob)} {
		if fmt.Sprintf("%T", j) != name {
			continue
		}
		if err := json.Unmarshal([]byte(arguments), j); err != nil {
			return fmt.Errorf("reading the arguments of %s: %w", name, err)
		}
		result, err := j.run()
		if err != nil {
			return err
		}
		return gob.NewEncoder(os.Stdout).Encode(result)
	}
	return fmt.Errorf("no such job: %s", name)
}

// A burstJob lets one client read bursts.
type burstJob struct {
	Client string
	Events int // in each write
	Bursts int
}

// run returns a reading.Cost.
func (j *burstJob) run() (any, error) { return reading.Burst(j.Client, j.Events, j.Bursts) }

// liveGap is from one event of a live stream to the next.
const liveGap = 20 * time.Millisecond

// A liveJob lets one client read streams as they come.
type liveJob struct {
	Client    string
	ServerCPU int
	Times     int // measurements
}

// run returns a reading.Cost.
func (j *liveJob) run() (any, error) {
	ctx, end := context.WithCancel(context.Background())
	defer end() // and with it the server
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &bench{self: self, serverCPU: j.ServerCPU}
	server, err := b.serve(ctx, truth.Script{First: 50 * time.Millisecond, ITL: liveGap})
	if err != nil {
		return nil, err
	}
	return reading.Live(j.Client, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: server.port}, j.Times)
}
