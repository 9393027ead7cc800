// Package hold runs commands that end when this process does, however it ends.
//
// A Keeper starts each Command under a holder, a process of its own whose standard
// input is a pipe from the Keeper. The end of that pipe, also when the Keeper is
// killed, makes the holder stop the command with all that it has started, in
// whatever group or session that is. The holder is the Keeper's own program, which
// calls Main. On Linux nothing outlives a holder that is killed either: what it
// leaves becomes a child of the Keeper, which ends it. When both are killed
// together, the next Keeper of the same folder does. Other systems with a Unix's
// signals find the command's process group alone, and the rest the command alone.
package hold

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Verb is the first argument of a holder. A program with a Keeper passes its second
// argument to Main when its first is Verb.
const Verb = "sweep-holder"

// A Command is what to run, and how to stop it.
type Command struct {
	Args  []string      // the program and its arguments
	Stop  []string      // command that stops it, before any signal; none when empty
	Grace time.Duration // for Stop and for SIGTERM, each, before SIGKILL

	Dir    string    `json:"-"` // to run it in; empty for this process's own
	Env    []string  `json:"-"` // nil for this process's own
	Output io.Writer `json:"-"` // takes what it prints
}

// Settle is how long killed processes may take to be gone.
const Settle = 5 * time.Second

const pause = 10 * time.Millisecond // between two looks at them

// A Keeper starts commands for a folder, which it has to itself.
type Keeper struct {
	lock   *os.File
	adopts bool // see TakeOver

	mu      sync.Mutex
	holders map[int]bool // that run, by their process ids
}

// Open takes the lock of a folder. While another Keeper has it, or a holder that
// one started still runs, wait is called, which says whether to try again. Systems
// without flock have no lock.
func Open(dir string, wait func() bool) (*Keeper, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		locked, err := tryLock(lock)
		switch {
		case locked:
			return &Keeper{lock: lock, holders: map[int]bool{}}, nil
		case err == nil && wait():
			continue
		case err == nil:
			err = fmt.Errorf("%s: another sweep is running there", dir)
		}
		lock.Close()
		return nil, err
	}
}

// Close gives up the lock, which holders that still run keep.
func (k *Keeper) Close() error { return k.lock.Close() }

// A Hold is a command that was started.
type Hold struct {
	Done <-chan struct{} // closed once the command has ended, with all that it has started
	pipe io.Closer       // the holder's standard input, whose end is the command's
	err  error
}

// Err is how the command ended by itself: nil for exit code 0. Not before Done.
func (h *Hold) Err() error { return h.err }

// End ends the command and waits for its end.
func (h *Hold) End() {
	h.pipe.Close()
	<-h.Done
}

// Start starts a command.
func (k *Keeper) Start(c *Command) (*Hold, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, Verb, string(text))
	cmd.Args[0] = "servebench" // whatever the file is called
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.Dir, c.Env, c.Output, c.Output, time.Second
	setApart(cmd, k.lock)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	k.holders[cmd.Process.Pid] = true
	done := make(chan struct{})
	h := &Hold{Done: done, pipe: pipe}
	go func() {
		defer close(done)
		h.err = cmd.Wait()
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.holders, cmd.Process.Pid)
		if k.adopts {
			endOrphans(k.holders)
		}
	}()
	return h, nil
}

// TakeOver makes this process the one that orphans of its holders become children
// of, and ends what an earlier Keeper of the folder has left that was killed
// together with its holders. To be called before Start. From then on the Keeper ends
// any child of this process that is of another session and that it did not start.
func (k *Keeper) TakeOver() {
	k.adopts = true
	adopt()
	endLeft(k.lock)
}
