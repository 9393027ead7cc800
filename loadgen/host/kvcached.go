package host

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/watch"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/samples"
)

// kvcachedFolder has the pools of servers with kvcached: POSIX shared memory, on Linux.
const kvcachedFolder = "/dev/shm"

// A KVCached is the elastic pool of one server with kvcached. The server publishes its state as a
// small file of shared memory; see PoolSample.
//
// The file has three integers of 8 bytes in the machine's order: limit, used and prealloc, in bytes.
// Who reads it takes a shared lock (flock) for a moment, on a file opened for reading and writing.
// Source: kvcached 0.1.6, kvcached/cli/utils.py. A hybrid model has more files, NAME_g0, NAME_g1 and
// so on; a pool is all of them together.
type KVCached struct {
	Name string // value of KVCACHED_IPC_NAME
	Dir  string // folder of the files; empty for /dev/shm
}

// NewKVCached is the pool of a name, or of the path of its file if it is not in /dev/shm.
func NewKVCached(name string) KVCached {
	if strings.Contains(name, "/") {
		return KVCached{Name: filepath.Base(name), Dir: filepath.Dir(name)}
	}
	return KVCached{Name: name, Dir: kvcachedFolder}
}

func (k KVCached) path() string { return filepath.Join(k.Dir, k.Name) }

// read reads the state of the pool. The error names the file that is missing or malformed.
func (k KVCached) read() (samples.Pool, error) {
	pool := samples.Pool{Name: k.Name}
	paths, err := k.paths()
	if err != nil {
		return pool, err
	}
	for _, path := range paths {
		var state [3]int64
		text, err := readLocked(path)
		if err == nil {
			state, err = parsePool(text)
		}
		if err != nil {
			return pool, fmt.Errorf("kvcached pool %s: %w", path, err)
		}
		pool.Limit += state[0]
		pool.Used += state[1]
		pool.Prealloc += state[2]
	}
	return pool, nil
}

// group matches what a hybrid model's files have after the name.
var group = regexp.MustCompile(`^_g\d+$`)

// paths are the files of the pool; there is at least one.
func (k KVCached) paths() (paths []string, err error) {
	all, err := filepath.Glob(k.path() + "*")
	for _, path := range all {
		if end := strings.TrimPrefix(path, k.path()); end == "" || group.MatchString(end) {
			paths = append(paths, path)
		}
	}
	if err == nil && paths == nil {
		err = fmt.Errorf("kvcached pool %s: there is no such file: start the server with ENABLE_KVCACHED=true and "+
			"KVCACHED_IPC_NAME=%s", k.path(), k.Name)
	}
	return paths, err
}

// poolBytes is the size of a pool's file.
const poolBytes = 24

// parsePool reads limit, used and prealloc.
func parsePool(text []byte) (state [3]int64, err error) {
	if len(text) != poolBytes {
		return state, fmt.Errorf("it has %s, and a pool of kvcached has %d", metrics.Counted(len(text), "byte"), poolBytes)
	}
	for i := range state {
		state[i] = int64(binary.NativeEndian.Uint64(text[8*i:]))
	}
	if state[0] <= 0 || state[1] < 0 || state[2] < 0 {
		return state, fmt.Errorf("limit %d, used %d and prealloc %d bytes cannot be a pool of kvcached", state[0], state[1],
			state[2])
	}
	return state, nil
}

// How long to wait for a change of a pool that no process seems to have, and how often to look.
const (
	staleAfter = 2 * time.Second
	staleEvery = 50 * time.Millisecond
)

// Check checks that there is such a pool, and that it is not the rest of a server that was killed:
// a process has it, or it changes within two seconds.
func (k KVCached) Check(ctx context.Context) error {
	first, err := k.read()
	if err != nil || k.owned() {
		return err
	}
	late := time.NewTimer(staleAfter)
	defer late.Stop()
	again := time.NewTicker(staleEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fmt.Errorf("kvcached pool %s is stale: no process has KVCACHED_IPC_NAME=%s, and it has not changed in %v: "+
				"if its server was killed, delete the file; if it is in another container, share its process ids", k.path(),
				k.Name, staleAfter)
		}
		if now, err := k.read(); err != nil || now != first {
			return err
		}
	}
}

// Sample is a watch.Sampler of the pool.
func (k KVCached) Sample(every time.Duration) watch.Sampler {
	return func(ctx context.Context, epoch time.Time, take func(*samples.Sample)) {
		again := time.NewTicker(every)
		defer again.Stop()
		for {
			s := &samples.Sample{At: time.Since(epoch)}
			pool, err := k.read()
			if s.Pool, s.Took = &pool, time.Since(epoch)-s.At; err != nil {
				s.Error, pool = err.Error(), samples.Pool{Name: k.Name}
			}
			take(s)
			select {
			case <-again.C:
			case <-ctx.Done():
				return
			}
		}
	}
}
