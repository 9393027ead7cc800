package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A job is a measurement in a child process. Its fields go to the child as JSON and its result
// comes back as package gob writes it.
type job interface {
	run() (result any, err error)
}

// longest is how long a child may take.
const longest = time.Minute

// anyCPU lets the kernel choose where a process runs, and Go on how many CPUs.
const anyCPU = -1

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
	out, err := pinned(ctx, cpu, self, "child", name, string(arguments)).Output()
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

// pinned is a command that runs on only one CPU, or on any.
func pinned(ctx context.Context, cpu int, command ...string) *exec.Cmd {
	if cpu != anyCPU {
		command = append([]string{"taskset", "-c", strconv.Itoa(cpu)}, command...)
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	return cmd
}

// allowedCPUs are those that this process may run on.
func allowedCPUs() (cpus []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
