//go:build linux

package host

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/metrics/samples"
)

// publish writes a pool's file as kvcached does.
func publish(t *testing.T, path string, state ...int64) {
	t.Helper()
	var text []byte
	for _, n := range state {
		text = binary.NativeEndian.AppendUint64(text, uint64(n))
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	if err := errors.Join(err, f.Truncate(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
}

// held is the pool of a name in a folder that this process has open, so that it is not stale.
func held(t *testing.T, dir, name string) KVCached {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return NewKVCached(f.Name())
}

func TestPoolOfAHybridModelIsAllItsFiles(t *testing.T) {
	dir := t.TempDir()
	publish(t, filepath.Join(dir, "a"), 1000, 20, 3)
	publish(t, filepath.Join(dir, "a_g0"), 500, 7, 1)
	publish(t, filepath.Join(dir, "a_gx"), 1, 1, 1)
	publish(t, filepath.Join(dir, "ab"), 1, 1, 1)
	k := held(t, dir, "a")
	if err := k.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := k.read(); err != nil || got != (samples.Pool{Name: "a", Limit: 1500, Used: 27, Prealloc: 4}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWrongPoolIsAnErrorWithItsName(t *testing.T) {
	dir := t.TempDir()
	publish(t, filepath.Join(dir, "short"), 1000, 20)
	publish(t, filepath.Join(dir, "long"), 1000, 20, 3, 4)
	publish(t, filepath.Join(dir, "limitless"), 0, 20, 3)
	publish(t, filepath.Join(dir, "negative"), 1000, -20, 3)
	publish(t, filepath.Join(dir, "stale"), 1000, 20, 3)
	publish(t, filepath.Join(dir, "kvcached_vLLM_99999999"), 1000, 20, 3)
	for name, want := range map[string]string{
		"none":                   "there is no such file: start the server with ENABLE_KVCACHED=true and KVCACHED_IPC_NAME=none",
		"short":                  "it has 16 bytes, and a pool of kvcached has 24",
		"long":                   "it has 25 bytes, and a pool of kvcached has 24",
		"limitless":              "limit 0, used 20 and prealloc 3 bytes cannot be a pool of kvcached",
		"negative":               "limit 1000, used -20 and prealloc 3 bytes",
		"stale":                  " is stale: no process has KVCACHED_IPC_NAME=stale, and it has not changed in 2s",
		"kvcached_vLLM_99999999": " is stale: ",
	} {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(dir, name)
			err := NewKVCached(path).Check(t.Context())
			if err == nil || !strings.HasPrefix(err.Error(), "kvcached pool "+path) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		})
	}
}

func TestPoolThatChangesIsNotStale(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	publish(t, path, 1000, 20, 3)
	synctest.Test(t, func(t *testing.T) {
		change := time.AfterFunc(time.Second, func() { publish(t, path, 1000, 21, 3) })
		defer change.Stop()
		if err := NewKVCached(path).Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestPoolIsNotReadWhileItsLockIsTaken(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	publish(t, path, 1000, 20, 3)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		if _, err := NewKVCached(path).read(); err == nil || !strings.Contains(err.Error(), "its lock was not free within 50ms") {
			t.Error(err)
		}
		free := time.AfterFunc(20*time.Millisecond, func() { syscall.Flock(int(f.Fd()), syscall.LOCK_UN) })
		defer free.Stop()
		if got, err := NewKVCached(path).read(); err != nil || got.Used != 20 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestPoolIsSampledOnTheClockOfTheRun(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	publish(t, path, 1000, 20, 3)
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now().Add(-time.Second)
		ctx, stop := context.WithTimeout(t.Context(), 350*time.Millisecond)
		defer stop()
		var got []string
		NewKVCached(path).Sample(100*time.Millisecond)(ctx, epoch, func(s *samples.Sample) {
			got = append(got, fmt.Sprint(s.At, " ", *s.Pool, " ", s.Error))
			switch len(got) {
			case 1:
				publish(t, path, 1000, 40, 0)
			case 2:
				publish(t, path, 1000)
			case 3:
				publish(t, path, 1000, 0, 1)
			}
		})
		want := []string{
			"1s {a 1000 20 3} ", "1.1s {a 1000 40 0} ",
			"1.2s {a 0 0 0} kvcached pool " + path + ": it has 8 bytes, and a pool of kvcached has 24", "1.3s {a 1000 0 1} ",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
