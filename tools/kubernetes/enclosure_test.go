// Package kubernetes runs the Job that servebench prints on a real Kubernetes.
//
// The test process starts itself again in new namespaces for processes, mounts and
// network. There it is process 1, and starts etcd, the control plane, and for each
// node a kubelet and a containerd. All that they start, mount and listen on ends
// with process 1; only control groups remain, and the outer process removes those.
package kubernetes

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// archive is the file of the image that the pods run. make release builds such a file.
var archive = flag.String("archive", "", "`FILE` of servebench's image")

// host is the address of the machine in the network of the pods.
const host = "10.88.0.1"

// controlGroup is the parent of all pods' control groups.
const controlGroup = "servebench-kubernetes"

func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case filepath.Base(os.Args[0]) == "pause": // the one program of a pod's sandbox
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
		<-stop
	case os.Getpid() != 1 && missing() == "":
		os.Exit(enclose())
	case os.Getpid() == 1:
		if err := furnish(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fallthrough
	default:
		os.Exit(m.Run())
	}
}

// missing says what the machine lacks for these tests; "" is nothing.
func missing() string {
	if *archive == "" {
		return "no image of servebench is given: make kubernetes makes one"
	}
	if os.Geteuid() != 0 {
		return "only root can make namespaces, bridges and control groups"
	}
	for _, need := range []struct{ program, from string }{
		{"etcd", "apt-get install etcd-server"}, {"containerd", "apt-get install containerd"}, {"runc", "apt-get install runc"},
		{plugins + "/bridge", "apt-get install containernetworking-plugins"}, {"ip", "apt-get install iproute2"},
		{"kubelet", "make kubernetes builds it"}, {"servebench", "make kubernetes builds it"},
	} {
		if _, err := exec.LookPath(need.program); err != nil {
			return fmt.Sprintf("there is no %s: %s", need.program, need.from)
		}
	}
	return ""
}

// enclose runs this program again in new namespaces, and returns its exit code.
func enclose() int {
	dir, err := os.MkdirTemp("", "servebench-kubernetes-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	runtime.LockOSThread() // Pdeathsig is for the end of a thread
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	err = errors.Join(cmd.Run(), ungroup(), os.RemoveAll(dir))
	if err == nil {
		return 0
	}
	if exit := new(exec.ExitError); !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

// furnish prepares the namespaces for the daemons. They get a separate /proc, /run and
// /var, which the machine does not see, and a bridge for the pods.
func furnish() error {
	upper, work := filepath.Join(os.TempDir(), "var"), filepath.Join(os.TempDir(), "work")
	if err := errors.Join(os.Mkdir(upper, 0o755), os.Mkdir(work, 0o755)); err != nil {
		return err
	}
	for _, m := range []struct {
		source, target, kind string
		flags                uintptr
		options              string
	}{
		{"none", "/", "", syscall.MS_REC | syscall.MS_PRIVATE, ""},
		{"none", "/", "", syscall.MS_REC | syscall.MS_SHARED, ""}, // from here on, as the kubelet wants it
		{"proc", "/proc", "proc", 0, ""},
		{"tmpfs", "/run", "tmpfs", 0, "mode=755"},
		{"overlay", "/var", "overlay", 0, fmt.Sprintf("lowerdir=/var,upperdir=%s,workdir=%s", upper, work)},
	} {
		if err := syscall.Mount(m.source, m.target, m.kind, m.flags, m.options); err != nil {
			return fmt.Errorf("mounting %s: %w", m.target, err)
		}
	}
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"link", "add", "cni0", "type", "bridge"},
		{"address", "add", host + "/16", "dev", "cni0"},
		{"link", "set", "cni0", "up"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %v: %w\n%s", args, err, out)
		}
	}
	return nil
}

// ungroup removes the control groups, the innermost first.
func ungroup() error {
	roots, err := filepath.Glob("/sys/fs/cgroup/*/" + controlGroup)
	if err != nil {
		return err
	}
	var all []string
	for _, root := range append(roots, "/sys/fs/cgroup/"+controlGroup) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				all = append(all, path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	var errs []error
	for _, dir := range slices.Backward(all) {
		errs = append(errs, os.Remove(dir))
	}
	return errors.Join(errs...)
}
