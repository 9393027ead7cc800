//go:build vllm && linux

package vllm_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An engine is vLLM's server, the build for CPUs, with a model.
type engine struct {
	url       string
	tokenizer string // the model's, in a folder of its own
}

// served is the name of the model.
const served = "tiny"

// engineVenv is the virtual environment of the engine.
func engineVenv() string { return filepath.Join(os.Getenv("ENGINE"), "venv") }

// startEngine starts an engine with the given flags on a free port of the
// loopback. It has ended when the test has, with all its processes.
func startEngine(t *testing.T, m model, flags ...string) *engine {
	t.Helper()
	port := freePort(t)
	cmd := exec.Command(filepath.Join(engineVenv(), "bin", "vllm"), append([]string{"serve", m.dir,
		"--served-model-name", served, "--host", "127.0.0.1", "--port", port, "--dtype", "float32",
		"--max-model-len", strconv.Itoa(longest), "--max-num-seqs", "256", "--enforce-eager"}, flags...)...)
	cmd.Env = append(os.Environ(), "VLLM_TARGET_DEVICE=cpu", "VLLM_SERVER_DEV_MODE=1", "HF_HUB_OFFLINE=1", "VLLM_NO_USAGE_STATS=1",
		"VLLM_CPU_KVCACHE_SPACE=1", "VLLM_CPU_OMP_THREADS_BIND=nobind", "OMP_NUM_THREADS=1")
	log := new(lockedBuffer)
	cmd.Stdout, cmd.Stderr = log, log
	e := &engine{"http://127.0.0.1:" + port, m.tokenizer}
	ended := e.start(t, cmd)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the engine's log:\n%s", log)
		}
	})
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	for !e.up(ctx) {
		select {
		case <-ended:
			t.Fatalf("the engine ended before it served")
		case <-ctx.Done():
			t.Fatalf("the engine does not serve: %v", ctx.Err())
		case <-time.After(time.Second):
		}
	}
	t.Logf("the engine serves after %.0f s", time.Since(began).Seconds())
	return e
}

// start starts the engine in a process group of its own, and gives a channel that
// is closed when its first process has ended. The whole group ends with the test,
// as SIGKILL of the first process would leave two behind. Where this process is
// killed, so that it cannot end them, a shell does, whose pipe then ends.
func (e *engine) start(t *testing.T, cmd *exec.Cmd) (ended <-chan struct{}) {
	t.Helper()
	own := &syscall.SysProcAttr{Setpgid: true}
	cmd.SysProcAttr = own
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := -cmd.Process.Pid
	guard := exec.Command("sh", "-c", `read -r over || kill -KILL -- "$0"`, strconv.Itoa(group))
	guard.SysProcAttr = own
	alive, err := guard.StdinPipe()
	if err == nil {
		err = guard.Start()
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	if err != nil {
		terminate(group)
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !terminate(group) {
			t.Error("the engine's processes had not ended a minute after SIGTERM, and were killed")
		}
		io.WriteString(alive, "over\n")
		guard.Wait()
	})
	return done
}

// terminate ends a process group, and says whether SIGTERM did.
func terminate(group int) bool {
	syscall.Kill(group, syscall.SIGTERM)
	for range 600 {
		if errors.Is(syscall.Kill(group, 0), syscall.ESRCH) {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	syscall.Kill(group, syscall.SIGKILL)
	return false
}

// freePort is a port of the loopback that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := strings.Cut(listener.Addr().String(), ":")
	return port
}

func (e *engine) up(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url+"/health", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// forget empties the prefix cache, so that no run finds what another one left.
func (e *engine) forget(t *testing.T) {
	t.Helper()
	resp, err := http.Post(e.url+"/reset_prefix_cache", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("POST /reset_prefix_cache: %s", resp.Status)
	}
}
