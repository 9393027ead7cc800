//go:build slurm && linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A cluster is a Slurm of four nodes on loopback, run by the test's own user.
type cluster struct {
	dir  string // where its commands run
	conf string
}

// startCluster starts the daemons of a cluster and waits until its nodes are idle.
// They end with the test.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin") // where Debian has daemons
	for _, name := range []string{"munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "squeue", "sinfo"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s: apt-get install slurm-wlm slurmctld slurmd munge", name)
		}
	}
	c := &cluster{dir: t.TempDir()}
	c.conf = filepath.Join(c.dir, "slurm.conf")
	t.Setenv("SLURM_CONF", c.conf)
	c.configure(t)
	c.daemon(t, "munged", "--foreground", "--force", "--origin=127.0.0.1", "--socket="+c.path("munge.socket"), "--key-file="+c.path("munge.key"),
		"--pid-file="+c.path("munged.pid"), "--log-file="+c.path("munged.log"), "--seed-file="+c.path("munge.seed"))
	awaitThat(t, "munged", func() bool { _, err := os.Stat(c.path("munge.socket")); return err == nil })
	c.daemon(t, "slurmctld", "-D", "-f", c.conf)
	for node := range 4 {
		c.daemon(t, "slurmd", "-D", "-f", c.conf, "-N", fmt.Sprint("n", node+1))
	}
	awaitThat(t, "four idle nodes", func() bool {
		out, err := exec.CommandContext(t.Context(), "sinfo", "-h", "-N", "-o", "%T").Output()
		return err == nil && string(out) == "idle\nidle\nidle\nidle\n"
	})
	t.Cleanup(func() { c.cancelJobs(t) }) // before the daemons end: a job is no child of theirs
	return c
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

// configure writes the cluster's configuration and key.
func (c *cluster) configure(t *testing.T) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	ports := freePorts(t, 5)
	conf := fmt.Sprintf(`ClusterName=loopback
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[4]d
SlurmUser=%[2]s
SlurmdUser=%[2]s
AuthType=auth/munge
AuthInfo=socket=%[3]s/munge.socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/spool-%%n
SlurmctldPidFile=%[3]s/slurmctld.pid
SlurmdPidFile=%[3]s/slurmd-%%n.pid
SlurmctldLogFile=%[3]s/slurmctld.log
SlurmdLogFile=%[3]s/slurmd-%%n.log
PartitionName=main Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:2
`, host, me.Username, c.dir, ports[4])
	for node, port := range ports[:4] {
		conf += fmt.Sprintf("NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=2 RealMemory=1000\n", node+1, host, port)
	}
	key := bytes.Repeat([]byte("on loopback only"), 8)
	if err := os.Mkdir(c.path("state"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{c.conf: []byte(conf), c.path("munge.key"): key} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// freePorts are ports that were free a moment ago.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// daemon runs a program until the end of the test, when SIGTERM ends it.
func (c *cluster) daemon(t *testing.T, args ...string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // or of the test's process
	var talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &talk, &talk
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := cmd.Wait(); t.Failed() {
			t.Logf("%s: %v\n%s", strings.Join(args, " "), err, &talk)
		}
	})
}

// cancelJobs ends what a failed test has left.
func (c *cluster) cancelJobs(t *testing.T) {
	idle := func() bool {
		out, err := exec.Command("squeue", "-h", "-o", "%A").Output()
		for _, job := range strings.Fields(string(out)) {
			err = exec.Command("scancel", job).Run()
		}
		return err == nil && len(out) == 0
	}
	awaitThat(t, "the end of all jobs", idle)
}

// awaitThat waits until something is so.
func awaitThat(t *testing.T, what string, so func() bool) {
	t.Helper()
	if !eventually(so) {
		t.Fatalf("waited in vain for %s", what)
	}
}

// An outcome is what a command printed and how it ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// run runs a command in the cluster's folder to its end.
func (c *cluster) run(t *testing.T, args ...string) outcome {
	t.Helper()
	wait := c.start(t, args...)
	return wait()
}

// must runs a command that succeeds, and gives its stdout.
func (c *cluster) must(t *testing.T, args ...string) string {
	t.Helper()
	o := c.run(t, args...)
	if o.code != 0 {
		t.Fatalf("%q ended with %d\n%s\n%s", args, o.code, o.stdout, o.stderr)
	}
	return o.stdout
}

// start starts a command in the cluster's folder and gives what waits for its end.
func (c *cluster) start(t *testing.T, args ...string) (wait func() outcome) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = c.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() outcome {
		t.Helper()
		defer stop()
		err := cmd.Wait()
		if ctx.Err() != nil {
			t.Fatalf("%q did not end\n%s\n%s", args, &stdout, &stderr)
		}
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	}
}
