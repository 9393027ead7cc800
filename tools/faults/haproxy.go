package main

import (
	"fmt"
	"os"
	"os/exec"
)

const haproxyConfig = `defaults
	mode http
	timeout connect 1s
	timeout client 30s
	timeout server %s
	%s
frontend all
	bind fd@3
	default_backend sim
backend sim
	server sim %s
`

// haproxyCases have haproxy before the simulator.
func haproxyCases() []*Case {
	const group = "Proxies: haproxy"
	proxied := func(how, timeout, more string, c Case, sim ...string) *Case {
		c.Group, c.How, c.Needs = group, how, []string{"haproxy"}
		c.Make = func(s *Stage) (string, error) { return s.haproxy(timeout, more, sim) }
		return &c
	}
	some := func(class string) Want { return Want{Failed: Failures{class: 5}, Suspect: []string{"failed"}} }
	return []*Case{
		proxied("Debian's default configuration", "30s", "",
			Case{Fault: "it holds events back and sends them in bursts", Alone: true,
				Args: []string{"--random-output-len", "100"},
				Want: Want{Suspect: []string{"lumpy delivery"}}, Lost: "ITL: it measures the proxy"}),
		proxied("`option http-no-delay`", "30s", "option http-no-delay",
			Case{Fault: "it sends each event at once", Alone: true, Want: Want{Check: (*Outcome).short}}),
		proxied("`timeout server 1s`; `sim --fault never --fault-every 4`", "1s", "option http-no-delay",
			Case{Fault: "it stops waiting for an answer (504)", Want: some("status")}, "--fault", "never", "--fault-every", "4"),
		proxied("`timeout server 1s`; `sim --fault stall=5 --fault-every 4`", "1s", "option http-no-delay",
			Case{Fault: "it gives up in the middle of an answer", Want: some("truncated")}, "--fault", "stall=5",
			"--fault-every", "4"),
		proxied("`option httpclose`", "30s", "option httpclose\n\toption http-no-delay",
			Case{Fault: "it closes after each answer", Args: []string{"--max-concurrency", "4"}}),
	}
}

// haproxy puts haproxy before a simulator. It passes an open listener to haproxy.
func (s *Stage) haproxy(timeout, more string, flags []string) (url string, err error) {
	sim, err := s.sim(flags...)
	if err != nil {
		return "", err
	}
	addr, listener, err := s.listen()
	if err != nil {
		return "", err
	}
	defer listener.Close()
	config, err := s.write("haproxy.cfg", fmt.Sprintf(haproxyConfig, timeout, more, sim.Addr()))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(s.ctx, "haproxy", "-db", "-q", "-f", config)
	cmd.ExtraFiles = []*os.File{listener} // the first is descriptor 3
	return "http://" + addr, s.start(cmd, nil)
}
