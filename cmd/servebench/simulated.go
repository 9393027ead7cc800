package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/servebench/servebench/loadgen/sim"
)

// A simulated server is one that is listened for.
type simulated struct {
	*sim.Server
	listener net.Listener
	url      string
}

// serve runs the servers until ctx ends.
func (o *simOptions) serve(ctx context.Context, stdout io.Writer) error {
	all, err := o.open()
	defer func() {
		for _, s := range all {
			s.Close()
			s.listener.Close()
		}
	}()
	if err != nil {
		return err
	}
	var webs []*http.Server
	served := make(chan error, len(all))
	for _, s := range all {
		web := &http.Server{Handler: s, Protocols: new(http.Protocols)}
		web.Protocols.SetHTTP1(true)
		web.Protocols.SetUnencryptedHTTP2(true)
		webs = append(webs, web)
		go func() { served <- web.Serve(s.listener) }()
	}
	end := func() {
		for i, web := range webs {
			all[i].Close()
			web.Close()
		}
		for range webs {
			<-served
		}
	}
	if err := o.announce(all, stdout); err != nil {
		end()
		return exitError{err, exitNo}
	}
	select {
	case err := <-served:
		return exitError{err, exitNo}
	case <-ctx.Done():
	}
	end()
	return nil
}

// open makes the servers and opens their addresses. What it has opened before an
// error, it returns, too.
func (o *simOptions) open() (all []simulated, err error) {
	cfg, err := o.config()
	if err != nil {
		return nil, err
	}
	ports, err := o.ports()
	if err != nil {
		return nil, err
	}
	if o.servers > 1 {
		cfg.GPU = new(sim.GPU)
	}
	for _, port := range ports {
		server, err := sim.New(cfg)
		if err != nil {
			return all, err
		}
		cfg.Seed++
		listener, url, err := o.listen(port)
		if err != nil {
			server.Close()
			return all, exitError{err, exitNo}
		}
		all = append(all, simulated{server, listener, url})
	}
	return all, nil
}

// ports are those of the servers: as listed, or successive ones unless the one
// given is 0.
func (o *simOptions) ports() (ports []int, err error) {
	for text := range strings.SplitSeq(o.port, ",") {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("argument --port: %q: it must be a port from 0 to 65535, or one for each of --servers, as 8100,8101", o.port)
		}
		ports = append(ports, int(port))
	}
	if len(ports) == 1 {
		for i := 1; i < o.servers; i++ {
			next := ports[0]
			if next != 0 {
				next += i
			}
			ports = append(ports, next)
		}
	}
	if len(ports) != o.servers {
		return nil, fmt.Errorf("argument --port: %q: it must be one port, or as many as --servers (%d)", o.port, o.servers)
	}
	return ports, nil
}

// listen opens a server's address and gives its URL. Over a Unix socket that
// names no host.
func (o *simOptions) listen(port int) (l net.Listener, url string, err error) {
	if o.socket != "" {
		l, err = net.Listen("unix", o.socket)
		return l, "http://localhost", err
	}
	l, err = net.Listen("tcp", net.JoinHostPort(o.host, strconv.Itoa(port)))
	if err != nil {
		return nil, "", err
	}
	return l, "http://" + l.Addr().String(), nil
}

// announce says where the servers are. The ready file appears whole.
func (o *simOptions) announce(all []simulated, stdout io.Writer) error {
	var urls, said string
	for _, s := range all {
		urls += s.url + "\n"
		said += "listening on " + s.url + "\n"
	}
	if o.ready != "" {
		if err := os.WriteFile(o.ready+".new", []byte(urls), 0o644); err != nil {
			return err
		}
		if err := os.Rename(o.ready+".new", o.ready); err != nil {
			return err
		}
	}
	_, err := io.WriteString(stdout, said)
	return err
}
