package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/servebench/servebench/loadgen/exporter"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A metricsServer shows Prometheus what runs are doing. A nil one shows nothing.
type metricsServer struct {
	exporter *exporter.Exporter
	web      *http.Server
	done     chan struct{}
}

// serveMetrics begins to answer scrapes at what --metrics-addr says, and says where
// that is; nil for nowhere.
func serveMetrics(address string, talk io.Writer) (*metricsServer, error) {
	if address == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("argument --metrics-addr: %w", err)
	}
	m := &metricsServer{exporter: exporter.New(buildVersion()), done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.exporter)
	m.web = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(m.done)
		m.web.Serve(listener)
	}()
	fmt.Fprintf(talk, "serving metrics at http://%s/metrics\n", listener.Addr())
	return m, nil
}

// series is what a target of an arm tells of itself; nil where nothing is shown.
func (m *metricsServer) series(arm, target string) *exporter.Series {
	if m == nil {
		return nil
	}
	return m.exporter.Series(arm, target)
}

// Close ends the server.
func (m *metricsServer) Close() {
	if m != nil {
		m.web.Close()
		<-m.done
	}
}

// parseListen reads where to listen.
func parseListen(text string) (string, error) {
	if _, _, err := net.SplitHostPort(text); err != nil {
		return "", fmt.Errorf("invalid address: %s: it must be HOST:PORT, as 127.0.0.1:9464, with port 0 for any that is free", pyjson.Quote(text))
	}
	return text, nil
}
