package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/cmd/servebench/internal/version"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/exporter"
	"github.com/servebench/servebench/loadgen/redact"
	"github.com/servebench/servebench/metrics/pyjson"
)

// gpuIndexes matches indexes of GPUs as nvidia-smi takes them.
var gpuIndexes = regexp.MustCompile(`^\d+(,\d+)*$`)

// leastInterval keeps the sampling from becoming a load.
const leastInterval = 100 * time.Millisecond

// watchFlags say what is sampled during the run.
type watchFlags struct {
	*options
	interval *time.Duration
	replicas []string
}

func (g *watchFlags) define(f *argv.Flags) {
	f.ListVar(&g.replicas, "server-metrics", argv.Bare,
		"`URL` sample the server's /metrics during the run: requests running and waiting, KV cache, prefix hits, "+
			"preemptions. For several replicas behind a router, give the URL of each, with commas between")
	f.Var(argv.Optional(&g.interval, argv.ParseSeconds), "server-metrics-interval",
		"`TIME` time between two samples, in seconds or as 500ms (default 1)")
	f.StringVar(&g.Plan.Watch.GPU, "gpu-metrics", "",
		"`SOURCE` sample memory, utilization and power of GPUs each second, what slows them down, and who else uses them. "+
			"The source is nvidia-smi, nvidia-smi:0,1 for GPUs 0 and 1, or a DCGM exporter as http://HOST:9400/metrics")
	f.StringVar(&g.Plan.Watch.Pool, "kvcached-metrics", "",
		"`NAME` sample the GPU memory that the server's kvcached pool holds, ten times a second. The name is the server's "+
			"KVCACHED_IPC_NAME, or the path of the file if that is not in /dev/shm. "+loadgen.TargetMark+
			" in it stands for the name of the target")
	f.Var(argv.Parsed(&g.Listen, "", parseListen), "metrics-addr",
		"`HOST:PORT` serve Prometheus metrics of the run at this address, under /metrics; port 0 takes a free one")
	f.Offer("gpu-metrics", loadgen.NvidiaSMI)
	f.Offer("metrics-addr", "127.0.0.1:9464")
	f.Conceal("server-metrics", redact.URLs)
	f.Conceal("gpu-metrics", redact.URL)
}

func (g *watchFlags) resolve(f *argv.Flags) error {
	w := &g.Plan.Watch
	w.Server = f.Changed("server-metrics")
	if err := g.resolveReplicas(); err != nil {
		return err
	}
	w.Every = time.Second
	if g.interval != nil {
		if w.Every = *g.interval; w.Every < leastInterval {
			return fmt.Errorf("argument --server-metrics-interval: %v: it must be at least %v", w.Every, leastInterval)
		}
		if !w.Server {
			g.Warnings = append(g.Warnings, "--server-metrics-interval has no effect without --server-metrics")
		}
	}
	if w.GPU == "" || w.GPU == loadgen.NvidiaSMI {
		return nil
	}
	if only, ok := strings.CutPrefix(w.GPU, loadgen.NvidiaSMI+":"); ok {
		if !gpuIndexes.MatchString(only) {
			return fmt.Errorf("argument --gpu-metrics: %s: what follows the colon must be indexes of GPUs, as 0,1",
				pyjson.Quote(w.GPU))
		}
		w.GPU, w.GPUs = loadgen.NvidiaSMI, only
		return nil
	}
	exporter, ok := withoutMetrics(w.GPU)
	if !ok {
		return fmt.Errorf("argument --gpu-metrics: %s: it must be %s, or the URL of a DCGM exporter as "+
			"http://127.0.0.1:9400/metrics",
			pyjson.Quote(redact.URL(w.GPU)), loadgen.NvidiaSMI)
	}
	w.GPU = exporter
	return nil
}

// withoutMetrics is the URL of a /metrics without that end, if it is one.
func withoutMetrics(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return "", false
	}
	return strings.TrimRight(strings.TrimSuffix(text, "/metrics"), "/"), true
}

// resolveReplicas reads the value of --server-metrics: nothing, or URLs.
func (g *watchFlags) resolveReplicas() error {
	w := &g.Plan.Watch
	for _, text := range strings.FieldsFunc(strings.Join(g.replicas, ","),
		func(c rune) bool { return c == ',' || c == ' ' }) {
		replica, ok := withoutMetrics(text)
		if !ok {
			return fmt.Errorf("argument --server-metrics: %s: it must be nothing, or the URLs of the server's replicas as "+
				"http://10.0.0.1:8000,http://10.0.0.2:8000",
				pyjson.Quote(redact.URL(text)))
		}
		if slices.Contains(w.URLs, replica) {
			return fmt.Errorf("argument --server-metrics: %s is there twice: it would count twice", replica)
		}
		w.URLs = append(w.URLs, replica)
	}
	if w.URLs != nil && g.Plan.Server.Socket != "" {
		return errors.New("argument --server-metrics: there are no URLs behind --unix-socket: leave them away")
	}
	return nil
}

// parseListen reads where to listen.
func parseListen(text string) (string, error) {
	if _, _, err := net.SplitHostPort(text); err != nil {
		return "", fmt.Errorf("invalid address: %s: it must be HOST:PORT, as 127.0.0.1:9464, with port 0 for any that is "+
			"free", pyjson.Quote(text))
	}
	return text, nil
}

// serveMetrics starts the exporter at the address of --metrics-addr, and prints its URL; nil
// without an address.
func serveMetrics(address string, talk io.Writer) (*exporter.Server, error) {
	if address == "" {
		return nil, nil
	}
	s, err := exporter.Serve(address, version.Number())
	if err != nil {
		return nil, fmt.Errorf("argument --metrics-addr: %w", err)
	}
	fmt.Fprintf(talk, "serving metrics at %s\n", s.URL())
	return s, nil
}
