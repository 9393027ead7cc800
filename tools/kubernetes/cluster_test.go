package kubernetes

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	patience = 3 * time.Minute
	shards   = 8
	plugins  = "/usr/lib/cni" // where Debian has them
)

// A cluster is a Kubernetes whose nodes are all on this machine.
type cluster struct {
	dir   string
	image string      // of servebench, as the nodes know it
	died  chan string // a daemon that ended before the test
}

// startCluster starts the control plane and as many nodes as eight pods need of which
// each asks for a core, and waits until all are ready.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	if why := missing(); why != "" {
		t.Skip(why)
	}
	c := &cluster{dir: t.TempDir(), died: make(chan string, 1)}
	t.Setenv("KUBECONFIG", c.path("kubeconfig"))
	c.control(t)
	nodes := (shards + runtime.NumCPU() - 1) / runtime.NumCPU()
	for i := range nodes {
		c.node(t, i)
	}
	c.await(t, "ready nodes", func() bool {
		out, err := c.try("kubectl", "get", "nodes", "-o", `jsonpath={range .items[*]}{.spec.taints}{.status.conditions[?(@.type=="Ready")].status} {end}`)
		return err == nil && strings.Count(out, "True") == nodes && !strings.Contains(out, "NoSchedule")
	})
	return c
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

// control starts etcd and the control plane, all on loopback.
func (c *cluster) control(t *testing.T) {
	t.Helper()
	c.write(t, "tokens.csv", "token,admin,1,system:masters\n")
	c.write(t, "key.pem", privateKey(t))
	c.write(t, "kubeconfig", `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: token}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`)
	c.daemon(t, "etcd", "--data-dir", c.path("etcd-data"), "--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
		"--listen-peer-urls", "http://127.0.0.1:2380", "--log-level", "warn")
	c.daemon(t, "kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", "--bind-address=127.0.0.1", "--advertise-address="+host,
		"--cert-dir="+c.path("certificates"), "--token-auth-file="+c.path("tokens.csv"), "--authorization-mode=AlwaysAllow",
		"--service-account-issuer=https://servebench.invalid", "--service-account-key-file="+c.path("key.pem"), "--service-account-signing-key-file="+c.path("key.pem"),
		"--service-cluster-ip-range=10.89.0.0/24", "--disable-admission-plugins=ServiceAccount", "--kubelet-preferred-address-types=InternalIP")
	c.await(t, "the API server", func() bool { _, err := c.try("kubectl", "get", "--raw", "/readyz"); return err == nil })
	c.daemon(t, "kube-controller-manager", "--kubeconfig="+c.path("kubeconfig"), "--bind-address=127.0.0.1", "--leader-elect=false",
		"--service-account-private-key-file="+c.path("key.pem"))
	c.daemon(t, "kube-scheduler", "--kubeconfig="+c.path("kubeconfig"), "--bind-address=127.0.0.1", "--leader-elect=false")
}

// node starts a node: a containerd that has the images, and a kubelet.
func (c *cluster) node(t *testing.T, i int) {
	t.Helper()
	name := fmt.Sprint("node-", i)
	dir := c.path(name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "containerd.sock")
	c.write(t, name+"/containerd.toml", fmt.Sprintf(`version = 2
root = "%[1]s/root"
state = "%[1]s/state"
[grpc]
  address = "%[2]s"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "%[4]s"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "%[3]s"
    conf_dir = "%[1]s"
`, dir, socket, plugins, pauseImage))
	c.write(t, name+"/bridge.conflist", fmt.Sprintf(`{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false,
  "ipam": {"type": "host-local", "dataDir": "%s/addresses", "ranges": [[{"subnet": "10.88.0.0/16", "rangeStart": "10.88.%d.10", "rangeEnd": "10.88.%[2]d.250", "gateway": "%s"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
`, dir, i+1, host))
	c.write(t, name+"/kubelet.yaml", fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %[1]s
port: %[2]d
healthzPort: 0
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix://%[3]s
podLogsDir: %[4]s/pods
volumePluginDir: %[4]s/volumes
cgroupDriver: cgroupfs
cgroupRoot: /%[5]s
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
evictionHard: {memory.available: 1Mi}
`, host, 10250+i, socket, dir, controlGroup))
	c.daemon(t, "containerd", "--config", dir+"/containerd.toml", "--log-level", "warn")
	c.await(t, "containerd of "+name, func() bool { _, err := c.try("ctr", "--address", socket, "version"); return err == nil })
	images := func(args ...string) string {
		return c.must(t, slices.Concat([]string{"ctr", "--address", socket, "--namespace", "k8s.io", "images"}, args)...)
	}
	images("import", *archive)
	for name := range strings.FieldsSeq(images("list", "--quiet")) {
		if !strings.HasPrefix(name, "sha256:") {
			c.image = name
		}
	}
	images("import", c.pause(t))
	c.daemon(t, "kubelet", "--config="+dir+"/kubelet.yaml", "--kubeconfig="+c.path("kubeconfig"), "--root-dir="+dir+"/kubelet",
		"--cert-dir="+dir+"/kubelet/pki", "--hostname-override="+name, "--node-ip="+host)
}

// daemon runs a program until the end of the test.
func (c *cluster) daemon(t *testing.T, args ...string) {
	t.Helper()
	log, err := os.CreateTemp(c.dir, filepath.Base(args[0])+"-*.log")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		select {
		case c.died <- args[0]:
		default:
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		err := <-ended
		log.Close()
		if t.Failed() {
			t.Logf("%s: %v\n%s", strings.Join(args, " "), err, tail(log.Name()))
		}
	})
}

// tail is the end of a file.
func tail(name string) []byte {
	text, err := os.ReadFile(name)
	if err != nil {
		return []byte(err.Error())
	}
	return text[max(0, len(text)-4000):]
}

// privateKey is a new key in PEM, for the tokens of service accounts.
func privateKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

// await waits until something is so, as long as all daemons live.
func (c *cluster) await(t *testing.T, what string, so func() bool) {
	t.Helper()
	end := time.After(patience)
	for tick := time.Tick(50 * time.Millisecond); !so(); {
		select {
		case <-tick:
		case name := <-c.died:
			t.Fatalf("%s ended while the test waited for %s", name, what)
		case <-end:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (c *cluster) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(c.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// An outcome is what a command printed and how it ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// run runs a command in the cluster's folder.
func (c *cluster) run(args ...string) outcome {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = c.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return outcome{stderr: err.Error(), code: -1}
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// try runs a command and gives its stdout.
func (c *cluster) try(args ...string) (string, error) {
	o := c.run(args...)
	if o.code != 0 {
		return o.stdout, fmt.Errorf("%q ended with %d\n%s\n%s", args, o.code, o.stdout, o.stderr)
	}
	return o.stdout, nil
}

// sh runs a command line that succeeds, as a user types it.
func (c *cluster) sh(t *testing.T, line string) string {
	t.Helper()
	return c.must(t, "sh", "-c", line)
}

// must runs a command that succeeds, and gives its stdout.
func (c *cluster) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.try(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
