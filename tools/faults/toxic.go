package main

import (
	"fmt"
	"strings"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// toxicCases have toxiproxy before the simulator.
func toxicCases() []*Case {
	const group = "On the wire: toxiproxy"
	toxic := func(kind, attributes string, c Case) *Case {
		c.Group = group
		c.How = fmt.Sprintf("`toxiproxy-cli toxic add -t %s%s`", kind, strings.ReplaceAll(" "+attributes, " ", " -a "))
		c.Make = func(s *Stage) (string, error) {
			proxy, err := s.proxy()
			if err != nil {
				return "", err
			}
			return "http://" + proxy.Listen, spoil(proxy, kind, attributes)
		}
		return &c
	}
	midway := func(kind, attributes string, failed Failures, c Case) *Case {
		spoiled := toxic(kind, attributes, c)
		spoiled.Args, spoiled.Want = steady, Want{Failed: failed, Suspect: []string{"failed"}}
		spoiled.Make = func(s *Stage) (string, error) {
			return s.taken(func(proxy *toxiproxy.Proxy) error { return spoil(proxy, kind, attributes) })
		}
		return spoiled
	}
	broken := Want{Failed: Failures{"truncated": 20}, Suspect: []string{"completed"}, Exit: 1}
	lumpy := []string{"lumpy delivery"}
	return []*Case{
		toxic("latency", "latency=200", Case{Fault: "all data arrives 200 ms late", Lost: "nothing: TTFT includes the 200 ms",
			Want: Want{Check: func(o *Outcome) error { return within("mean TTFT (ms)", o.Result.MeanTTFT, 200, 500) }}}),
		toxic("latency", "latency=100 jitter=90", Case{Fault: "all data arrives 10 to 190 ms late",
			Lost: "ITL: it measures the network",
			Want: Want{Suspect: lumpy, Check: func(o *Outcome) error {
				return within("mean TTFT (ms)", o.Result.MeanTTFT, 20, 500)
			}}}),
		toxic("bandwidth", "rate=5", Case{Fault: "5 kB/s", Lost: "ITL: it measures the line", Own: true}),
		toxic("slicer", "average_size=37 size_variation=10 delay=2000",
			Case{Fault: "events cut into pieces of 37 bytes, 2 ms apart"}),
		toxic("limit_data", "bytes=2000", Case{Fault: "connections end after 2000 bytes", Want: broken}),
		midway("reset_peer", "timeout=100", Failures{"truncated": 3, "reset": 9},
			Case{Fault: "connections are reset after 8 answers, with 3 in flight; open ones end"}),
		midway("timeout", "timeout=300", Failures{"truncated": 12},
			Case{Fault: "after 8 answers, with 3 in flight, connections carry no more data and end 300 ms later"}),
		toxic("slow_close", "delay=500", Case{Fault: "connections end 500 ms late"}),
		{Group: group, Fault: "the proxy disappears in the middle of the run",
			How: "`toxiproxy-cli toggle` after 8 answers, with 3 in flight", Args: steady,
			Want: struck("truncated", "refused"), Make: func(s *Stage) (string, error) {
				return s.taken(func(proxy *toxiproxy.Proxy) error { proxy.Stop(); return nil })
			}},
	}
}

// spoil adds a toxic to a proxy.
func spoil(proxy *toxiproxy.Proxy, kind, attributes string) error {
	text := fmt.Sprintf(`{"type": %q, "attributes": {"%s}}`, kind,
		strings.NewReplacer("=", `": `, " ", `, "`).Replace(attributes))
	_, err := proxy.Toxics.AddToxicJson(strings.NewReader(text))
	return err
}

// proxy puts a proxy without toxics before a simulator.
func (s *Stage) proxy(args ...string) (*toxiproxy.Proxy, error) {
	sim, err := s.sim(args...)
	if err != nil {
		return nil, err
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, "sim", "127.0.0.1:0", sim.Addr())
	if err := proxy.Start(); err != nil {
		return nil, err
	}
	s.later(proxy.Stop)
	return proxy, nil
}

// taken puts a proxy before a slow simulator, and calls then in the middle of the run.
func (s *Stage) taken(then func(*toxiproxy.Proxy) error) (url string, err error) {
	proxy, err := s.proxy(slowly...)
	if err != nil {
		return "", err
	}
	s.Meanwhile = func() error {
		if err := s.middle(); err != nil {
			return err
		}
		return then(proxy)
	}
	return "http://" + proxy.Listen, nil
}

// within returns an error if a figure is too small or too large.
func within(what string, got, least, most float64) error {
	if got < least || got > most {
		return fmt.Errorf("%s: %v is not from %v to %v", what, got, least, most)
	}
	return nil
}
