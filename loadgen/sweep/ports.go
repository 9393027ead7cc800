package sweep

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// portName is the name of a free port in the file: ${port}, ${port2} and so on.
var portName = regexp.MustCompile(`\$\{port[0-9]*\}`)

// namesOf are the names of ports in texts.
func namesOf(texts []string) (names []string) {
	for _, text := range texts {
		names = append(names, portName.FindAllString(text, -1)...)
	}
	return names
}

// ports are ports by their names.
type ports map[string]string

// put is text with ports in place of their names.
func (p ports) put(text string) string {
	return portName.ReplaceAllStringFunc(text, func(name string) string { return p[name] })
}

func (p ports) putAll(texts []string) []string {
	var put []string
	for _, text := range texts {
		put = append(put, p.put(text))
	}
	return put
}

// server is s with ports in place of their names. It finds free ports of the loopback
// interface for names that p does not have yet.
func (p ports) server(s Server) (*Server, error) {
	for _, name := range namesOf(slices.Concat(s.Command, s.Stop, []string{s.Ready}, slices.Collect(maps.Values(s.Env)))) {
		if p[name] != "" {
			continue
		}
		// It stays open until all are found, so no port is found twice.
		l, err := listenBelow()
		if err != nil {
			return nil, fmt.Errorf("finding a free port: %w", err)
		}
		defer l.Close()
		_, p[name], _ = net.SplitHostPort(l.Addr().String())
	}
	s.Command, s.Stop, s.Ready, s.Env = p.putAll(s.Command), p.putAll(s.Stop), p.put(s.Ready), maps.Clone(s.Env)
	for name, value := range s.Env {
		s.Env[name] = p.put(value)
	}
	return &s, nil
}

// Free ports are looked for from firstPort on, below those that kernels choose by themselves, for
// connections and for listeners at port 0: these begin at 32768 on Linux, and at 49152 by RFC 6335.
// So no other program gets a port by chance between our look and the start of the server, which may
// take seconds to open it.
const (
	firstPort = 20000
	portCount = 10000
	portTries = 100
)

// listenBelow listens at a random free port of the loopback interface.
func listenBelow() (l net.Listener, err error) {
	for range portTries {
		l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.IntN(portCount))))
		if err == nil {
			return l, nil
		}
	}
	return nil, err
}

// AnyPorts replaces each port name by some port, a different one for each name, so that texts can
// be checked before any server starts.
func AnyPorts(texts ...string) []string {
	some := ports{}
	for _, name := range namesOf(texts) {
		n, _ := strconv.ParseUint(strings.Trim(name, "${port}"), 10, 64) // none of them is 0
		some[name] = strconv.FormatUint(1+n%65535, 10)
	}
	return some.putAll(texts)
}
