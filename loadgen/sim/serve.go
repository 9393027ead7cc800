package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"

	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/spans"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// A Site is where servers listen.
type Site struct {
	// Host is the address to listen on.
	Host string

	// Ports has one port for each server; 0 means any free port.
	Ports []int

	// Socket is the path of a Unix socket to listen on instead, for one server.
	Socket string

	// ReadyFile is written once all servers accept connections, with the URL of each server on a
	// line. It appears whole. Empty means no file.
	ReadyFile string
}

// Several makes n servers of one Config, each with a different seed. If there are several, they
// share a GPU. Each may use the SMs listed for it; nil for what the Config says.
func Several(cfg Config, n int, sms []float64) (all []*Server, err error) {
	if n > 1 {
		cfg.Device.GPU = new(speed.GPU)
	}
	switch files := len(cfg.Pool.Files); {
	case files > 0 && cfg.Pool.Memory == nil:
		return nil, errors.New("files of pools take a pool: add --kv-pool")
	case files > 0 && files != n:
		return nil, fmt.Errorf("files of pools must be as many as servers, %d, and not %d", n, files)
	case cfg.Pool.Memory != nil && cfg.Pool.Memory.Surely(n) < kvcache.BlocksOf(cfg.Limits.ModelLen):
		return nil, fmt.Errorf("the pool is too small: apart from the spare pages of the other servers, it must hold a "+
			"request of max-model-len (%d)", cfg.Limits.ModelLen)
	}
	for i := range n {
		if sms != nil {
			cfg.Device.SMs = sms[i]
		}
		s, err := New(cfg)
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, s)
		cfg.Seed++
		if len(cfg.Pool.Files) > 0 {
			cfg.Pool.Files = cfg.Pool.Files[1:]
		}
	}
	return all, nil
}

func closeAll(servers []*Server) {
	for _, s := range servers {
		s.Close()
	}
}

// Serve serves each server at its port until ctx ends, and closes them. Once they accept
// connections, it writes a line "listening on URL" for each to out.
func Serve(ctx context.Context, servers []*Server, at Site, out io.Writer) error {
	defer closeAll(servers)
	var webs []*http.Server
	var listeners []net.Listener
	var urls []string
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	for i, s := range servers {
		l, url, err := at.listen(i)
		if err != nil {
			return err
		}
		web := &http.Server{Handler: s, Protocols: new(http.Protocols)}
		if s.cfg.Log != nil {
			l, web.ConnContext = spans.Listen(l), spans.Context
		}
		web.Protocols.SetHTTP1(true)
		web.Protocols.SetUnencryptedHTTP2(true)
		webs, listeners, urls = append(webs, web), append(listeners, l), append(urls, url)
	}
	served := make(chan error, len(webs))
	for i, web := range webs {
		go func() { served <- web.Serve(listeners[i]) }()
	}
	err := at.announce(urls, out)
	running := len(webs)
	if err == nil {
		select {
		case err = <-served:
			running--
		case <-ctx.Done():
		}
	}
	closeAll(servers)
	for _, web := range webs {
		web.Close()
	}
	for range running {
		<-served
	}
	return err
}

// listen opens a server's address and returns its URL. For a Unix socket, the URL has a placeholder
// host.
func (at *Site) listen(i int) (l net.Listener, url string, err error) {
	if at.Socket != "" {
		l, err = net.Listen("unix", at.Socket)
		return l, "http://localhost", err
	}
	l, err = net.Listen("tcp", net.JoinHostPort(at.Host, strconv.Itoa(at.Ports[i])))
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: --port 0 takes a free port", err)
	}
	if err != nil {
		return nil, "", err
	}
	return l, "http://" + l.Addr().String(), nil
}

// announce reports where the servers listen.
func (at *Site) announce(urls []string, out io.Writer) error {
	var lines, said string
	for _, url := range urls {
		lines += url + "\n"
		said += "listening on " + url + "\n"
	}
	if at.ReadyFile != "" {
		if err := os.WriteFile(at.ReadyFile+".new", []byte(lines), 0o644); err != nil {
			return err
		}
		if err := os.Rename(at.ReadyFile+".new", at.ReadyFile); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, said)
	return err
}
