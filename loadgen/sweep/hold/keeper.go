// Package hold runs commands that end when this process ends, even when it is killed.
//
// A Keeper starts each Command under a holder: a separate process, whose standard input
// is a pipe from the Keeper. When the pipe ends, the holder stops the command and all
// processes that the command has started, in any process group and session. The holder
// runs the Keeper's own program, which calls Main.
//
// On Linux nothing outlives a killed holder either: the processes that it leaves become
// children of the Keeper, which ends them. If both are killed together, the next Keeper of
// the same folder ends what they left. Other Unix systems end the process group of the
// command, and all other systems only the command itself.
package hold

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Verb is the first argument of a holder. When the first argument of a program is Verb, it
// must call Main with the second one.
const Verb = "sweep-holder"

// A Command is a program to run, and how to stop it.
type Command struct {
	Args  []string      // the program and its arguments
	Stop  []string      // command that stops it, before any signal; none when empty
	Grace time.Duration // for Stop and for SIGTERM, each, before SIGKILL

	Dir    string    `json:"-"` // where it runs; empty for this process's own
	Env    []string  `json:"-"` // nil for this process's own
	Output io.Writer `json:"-"` // takes what it prints
}

// Settle is how long killed processes may take to be gone.
const Settle = 5 * time.Second

const (
	pause     = 10 * time.Millisecond // between two looks at them
	lockPause = 50 * time.Millisecond // between two tries to take the lock
)

// A Keeper starts commands for a folder. No other Keeper has the same folder.
type Keeper struct {
	lock   *os.File
	adopts bool // see TakeOver

	mu      sync.Mutex
	holders map[int]bool // that run, by process id
}

// Open takes the lock of a folder. If another Keeper or one of its holders has the lock,
// Open calls waiting and waits for it, for no longer than longest. Systems without flock
// have no lock.
func Open(ctx context.Context, dir string, longest time.Duration, waiting func()) (*Keeper, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	for told := false; ; told = true {
		locked, err := tryLock(lock)
		if locked {
			return &Keeper{lock: lock, holders: map[int]bool{}}, nil
		}
		if err == nil && told && ctx.Err() != nil {
			err = fmt.Errorf("%s: another sweep is running there", dir)
		}
		if err != nil {
			lock.Close()
			return nil, err
		}
		if !told {
			waiting()
		}
		select {
		case <-ctx.Done():
		case <-time.After(lockPause):
		}
	}
}

// Close releases the lock. Holders that still run keep it.
func (k *Keeper) Close() error { return k.lock.Close() }

// A Hold is a started command.
type Hold struct {
	// Ended is done once the command and all that it has started have ended.
	Ended context.Context

	pipe   io.Closer // the holder's standard input
	holder *os.Process
	err    error
}

// Err says how the command ended. It is nil for exit code 0, and before the end.
func (h *Hold) Err() error {
	if h.Ended.Err() == nil {
		return nil
	}
	return h.err
}

// End stops the command and waits until it has ended.
func (h *Hold) End() {
	h.pipe.Close()
	wake(h.holder)
	<-h.Ended.Done()
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
	cmd.Args[0] = "servebench" // whatever the name of the file
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
	h := &Hold{pipe: pipe, holder: cmd.Process}
	var end context.CancelFunc
	h.Ended, end = context.WithCancel(context.Background())
	go func() {
		defer end()
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

// TakeOver ends what an earlier Keeper of the folder left if it was killed together with its
// holders, and makes this process the parent of what its own holders leave. Call it before Start.
// From then on, when a holder ends, the Keeper ends each child of this process that is in another
// session and is not a holder.
func (k *Keeper) TakeOver() {
	k.adopts = true
	adopt()
	endLeft(k.lock)
}
