package exporter

import (
	"net"
	"net/http"
	"time"
)

// A Server answers scrapes at /metrics of its address. A nil Server has no Series.
type Server struct {
	exporter *Exporter
	listener net.Listener
	web      *http.Server
	done     chan struct{}
}

// Serve begins to answer at HOST:PORT; port 0 means any free port.
func Serve(address, version string) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{exporter: New(version), listener: listener, done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.exporter)
	s.web = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		s.web.Serve(listener)
	}()
	return s, nil
}

// URL is where the metrics are.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/metrics" }

// Series is the Series of an arm's target; nil for a nil Server.
func (s *Server) Series(arm, target string) *Series {
	if s == nil {
		return nil
	}
	return s.exporter.Series(arm, target)
}

// Close ends the Server.
func (s *Server) Close() {
	if s != nil {
		s.web.Close()
		<-s.done
	}
}
