//go:build release

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A place is somewhere that servebench is installed.
type place struct {
	root    string   // "" is the system's own
	program string   // its path below root
	folder  string   // that it runs in, below root
	user    int      // 0 is who runs the test
	env     []string // all of its environment
}

// command runs servebench there. Who is not root becomes it in a namespace, where chroot
// is allowed.
func (p place) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, p.program, args...)
	c.Env, c.Dir = append([]string{}, p.env...), p.folder
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: p.root}
	if os.Getuid() != 0 {
		c.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: p.user, HostID: os.Getuid(), Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: p.user, HostID: os.Getgid(), Size: 1}}
	} else if p.user != 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(p.user), Gid: uint32(p.user)}
	}
	return c
}

// works makes sure that servebench says there which version it is, serves, loads, records
// in its folder, and reports what it recorded.
func (p place) works(t *testing.T, version string) {
	t.Helper()
	if out := p.output(t, "--version"); !strings.HasPrefix(out, "servebench version "+version+"\ncommit:   ") {
		t.Errorf("--version printed %q, want version %s", out, version)
	}
	ctx, stop := context.WithCancel(t.Context())
	sim := p.command(ctx, "sim", "--port", "0")
	var complaints bytes.Buffer
	sim.Stderr = &complaints
	sim.Cancel = func() error { return sim.Process.Signal(syscall.SIGTERM) }
	out, err := sim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url := listening.FindStringSubmatch(line)
	if err != nil || url == nil {
		t.Fatalf("sim printed %q: %v\n%s", line, err, &complaints)
	}
	block := p.output(t, "run", "--base-url", url[1], "--num-prompts", "6", "--random-input-len", "16", "--random-output-len", "8", "-o", "run.jsonl")
	stop()
	if err := sim.Wait(); err != nil && ctx.Err() == nil {
		t.Errorf("sim: %v\n%s", err, &complaints)
	}
	if !completed.MatchString(block) {
		t.Errorf("run printed\n%s", block)
	}
	if again := p.output(t, "report", "run.jsonl"); again != block[strings.Index(block, "====="):] {
		t.Errorf("report printed\n%s\nafter run had printed\n%s", again, block)
	}
}

var (
	listening = regexp.MustCompile(`^listening on (http://\S+)\n`)
	completed = regexp.MustCompile(`(?m)^Successful requests: +6 +$`)
)

// output is what a command prints on stdout.
func (p place) output(t *testing.T, args ...string) string {
	t.Helper()
	c := p.command(t.Context(), args...)
	var complaints bytes.Buffer
	c.Stderr = &complaints
	out, err := c.Output()
	if err != nil {
		t.Fatalf("servebench %s: %v\n%s", strings.Join(args, " "), err, &complaints)
	}
	return string(out)
}

// unpack writes the files of an image, or of another root that has nothing else.
func unpack(t *testing.T, files []file) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, f := range files {
		name := filepath.Join(root, f.name)
		write := func() error { return os.WriteFile(name, f.data, 0o600) }
		if f.folder() {
			write = func() error { return os.MkdirAll(name, 0o700) }
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// tool runs a program that knows a kind of package, and returns all that it prints.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", fmt.Sprint(append([]string{name}, args...)), err, out)
	}
	return string(out)
}

// packagingTools is the folder of the programs from PyPI that judge packages. make
// release-check installs them, where it can reach PyPI.
func packagingTools(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("PACKAGING")
	if folder == "" {
		t.Skip("twine, uv and CycloneDX's schema are not installed: make release-check has installed them if PACKAGING is set")
	}
	return folder + "/bin"
}
