package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A job is what a child process measures or serves. Its fields go to the child
// and its result comes back as JSON.
type job interface {
	run() (result any, err error)
}

// jobs are those that a child may be asked for, by the name of their type.
var jobs = []job{burstJob{}, pacedJob{}, startsJob{}, streamsJob{}, lagJob{}, metronomeJob{}}

// longest is how long a child may take.
const longest = time.Minute

// anyCPU leaves it to the kernel where a child runs, and to Go on how many CPUs.
const anyCPU = -1

// A child is this program run once more, for one job.
type child struct {
	*exec.Cmd
	job   string
	stdin io.Closer
	reply *json.Decoder
}

// spawn starts a child that does j on one CPU alone, or on any. It must be
// finished.
func spawn(cpu int, j job) (*child, error) {
	name := reflect.TypeOf(j).Name()
	arguments, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{Cmd: exec.Command(self, "child", name, string(arguments)), job: name}
	c.Stderr = os.Stderr
	if cpu != anyCPU {
		c.Env = append(os.Environ(), "GOMAXPROCS=1")
	}
	if c.stdin, err = c.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.reply = json.NewDecoder(stdout)
	if err := startOn(cpu, c.Cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return c, nil
}

// startOn starts a process whose threads may run on one CPU alone. A process
// inherits that from the thread that starts it.
func startOn(cpu int, cmd *exec.Cmd) error {
	if cpu == anyCPU {
		return cmd.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("sched_getaffinity: %w", err)
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("sched_setaffinity: %w", err)
	}
	defer unix.SchedSetaffinity(0, &before)
	return cmd.Start()
}

// allowedCPUs are the CPUs that this process may run on.
func allowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	var cpus []int
	for cpu := range 8 * int(unsafe.Sizeof(set)) {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// answer waits for the next result of the child's job.
func (c *child) answer(result any) error { return c.reply.Decode(result) }

// finish waits for the last result of the child's job and for its end, which a
// server's closed stdin brings about. One that does not end is killed.
func (c *child) finish(result any) error {
	c.stdin.Close()
	killer := time.AfterFunc(longest, func() { c.Process.Kill() })
	defer killer.Stop()
	unread := c.answer(result)
	if err := c.Wait(); err != nil {
		return fmt.Errorf("%s: %w", c.job, err)
	}
	if unread != nil {
		return fmt.Errorf("the result of %s: %w", c.job, unread)
	}
	return nil
}

// measure does j in a child and gives its result.
func measure[R any](cpu int, j job) (result R, err error) {
	c, err := spawn(cpu, j)
	if err != nil {
		return result, err
	}
	return result, c.finish(&result)
}

// work is main in a child.
func work(name, arguments string) error {
	for _, j := range jobs {
		t := reflect.TypeOf(j)
		if t.Name() != name {
			continue
		}
		asked := reflect.New(t)
		if err := json.Unmarshal([]byte(arguments), asked.Interface()); err != nil {
			return fmt.Errorf("reading the arguments of %s: %w", name, err)
		}
		result, err := asked.Elem().Interface().(job).run()
		if err != nil {
			return err
		}
		return reply(result)
	}
	return fmt.Errorf("no such job: %s", name)
}

// reply sends a result to the parent.
func reply(result any) error { return json.NewEncoder(os.Stdout).Encode(result) }

// untilAbandoned waits until the parent has no more use for this process.
func untilAbandoned() { io.Copy(io.Discard, os.Stdin) }
