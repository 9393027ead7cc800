package main

import (
	"net/netip"
	"time"
)

var (
	near = netip.MustParsePrefix("10.99.0.1/24")
	far  = netip.MustParsePrefix("10.99.0.2/24")
)

// linkCases have client and server in separate network namespaces, with a link between them.
func linkCases() []*Case {
	const group = "On the wire: a network namespace"
	linked := func(how string, delay time.Duration, lose int, c Case) *Case {
		c.Group, c.How = group, how
		c.Make = func(s *Stage) (string, error) { return s.link(delay, lose) }
		return &c
	}
	return []*Case{
		linked("`tc qdisc add dev eth0 root netem delay 25ms` at both ends", 25*time.Millisecond, 0, Case{
			Fault: "a round trip of 50 ms", Args: []string{"--warm-connections"}, Lost: "nothing: TTFT includes the 50 ms",
			Want: Want{Check: func(o *Outcome) error { return within("mean TTFT (ms)", o.Result.MeanTTFT, 50, 300) }}}),
		linked("`tc qdisc add dev eth0 root netem delay 25ms loss 5%` at both ends", 25*time.Millisecond, 20, Case{
			Fault: "likewise, with one packet in twenty lost", Args: []string{"--warm-connections"},
			Lost: "ITL: it measures the network",
			// The end of an answer depends on which packets are lost.
			Want: Want{Perhaps: []string{"lumpy delivery"},
				Says: "came before an earlier one, which the network had lost or held up: what was in them had to wait for that"}}),
		{Group: group, Fault: "an address that swallows packets", How: "`iptables -A INPUT -p tcp --dport 8000 -j DROP`",
			Args: []string{"--connect-timeout", "0.5"},
			Want: Want{Exit: 1, Unsent: requests}, Make: (*Stage).swallow},
	}
}

// link puts the run and a simulator into networks with a link between them.
func (s *Stage) link(delay time.Duration, lose int) (url string, err error) {
	here, err := s.network()
	if err != nil {
		return "", err
	}
	there, err := s.network()
	if err != nil {
		return "", err
	}
	client, err := here.device(near)
	if err != nil {
		return "", err
	}
	s.later(func() { client.Close() })
	server, err := there.device(far)
	if err != nil {
		return "", err
	}
	s.later(func() { server.Close() })
	go carry(server, client, delay, lose)
	go carry(client, server, delay, lose)
	s.Network = here
	sim, err := s.simAt(there, "--host", far.Addr().String(), "--port", "0")
	if err != nil {
		return "", err
	}
	return sim.URL, nil
}

// swallow puts the run into a network whose device nobody reads.
func (s *Stage) swallow() (url string, err error) {
	if s.Network, err = s.network(); err != nil {
		return "", err
	}
	device, err := s.Network.device(near)
	if err != nil {
		return "", err
	}
	s.later(func() { device.Close() })
	return "http://" + far.Addr().String() + ":8000", nil
}
