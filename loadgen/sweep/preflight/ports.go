package preflight

import (
	"net"
	"net/url"
	"strings"

	"github.com/servebench/servebench/loadgen/sweep"
)

// addresses are where a server listens, by its ready URL and its --port. Ports that the sweep chooses
// are free.
func (s *server) addresses() []string {
	var all []string
	host := "127.0.0.1"
	if len(s.Ready) > 0 && sweep.AnyPorts(s.Ready)[0] == s.Ready {
		if u, err := url.Parse(s.Ready); err == nil {
			host = u.Hostname()
			all = append(all, addressOf(u))
		}
	}
	for _, call := range s.calls {
		for i, word := range call {
			value, joined := strings.CutPrefix(word, "--port=")
			if word == "--port" && i+1 < len(call) {
				value, joined = call[i+1], true
			}
			if _, err := net.LookupPort("tcp", value); joined && err == nil {
				all = append(all, net.JoinHostPort(host, value))
			}
		}
	}
	return unique(all)
}

// addressOf is the host and the port of a URL.
func addressOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// ports checks that the servers' ports are free, and that no two servers of an arm have the same.
func ports(l *look) (all []Finding) {
	var free, seen []string
	for _, a := range l.plan.Arms {
		taken := map[string]bool{}
		for _, s := range l.servers {
			if s.arm != a.Name {
				continue
			}
			for _, address := range s.addresses() {
				if taken[address] {
					all = append(all, missing("port", "give each server another one", "two servers of arm %s want %s", a.Name,
						address))
				}
				taken[address] = true
				seen = append(seen, address)
			}
		}
	}
	for _, address := range unique(seen) {
		if l.machine.Listens(address) {
			_, port, _ := net.SplitHostPort(address)
			all = append(all, missing("port", "end what listens there: ss -ltnp 'sport = :"+port+"'", "%s is in use", address))
		} else {
			free = append(free, address)
		}
	}
	if free != nil {
		all = append(all, fine("port", "%s", strings.Join(free, ", ")))
	}
	return all
}

// running checks that a server listens where an arm that starts none sends its load.
func running(l *look) (all []Finding) {
	for i, a := range l.plan.Arms {
		if a.Servers != nil {
			continue
		}
		var seen []string
		for _, load := range l.plan.LoadsOf(i) {
			if u, err := url.Parse(load.Server.BaseURL); err == nil && u.Host != "" && load.Server.Socket == "" {
				seen = append(seen, addressOf(u))
			}
		}
		for _, address := range unique(seen) {
			if l.machine.Listens(address) {
				all = append(all, fine("server", "arm %s: something listens at %s", a.Name, address))
			} else {
				all = append(all, missing("server", "start it, or give the arm a command", "arm %s: nothing listens at %s", a.Name,
					address))
			}
		}
	}
	return all
}
