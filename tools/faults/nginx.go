package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// A site is the configuration of nginx, in addition to the common part. The zero value is a plain
// proxy that keeps its connections.
type site struct {
	http       string   // directives of the http block
	listen     string   // protocols of the listener, as "ssl http2"
	server     string   // directives for all paths
	completion string   // directives for /v1/completions
	instead    bool     // replaces passing requests to the simulator
	sim        []string // flags of the simulator behind it
	key        string   // servebench's API key
}

const nginxConfig = `daemon off;
worker_processes 1;
pid nginx.pid;
events {}
http {
	access_log off;
	client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
	upstream sim { server %s; keepalive 64; }
	proxy_http_version 1.1;
	proxy_set_header Connection "";
	%s
	server {
		listen %s %s;
		%s
		location / { proxy_pass http://sim; }
		location = /v1/completions { %s }
	}
}
`

// nginx puts nginx before a simulator, and returns its address. It passes an open listener to
// nginx, so there is no race for a port and nothing to wait for.
func (s *Stage) nginx(at site) (addr string, err error) {
	sim, err := s.sim(at.sim...)
	if err != nil {
		return "", err
	}
	addr, listener, err := s.listen()
	if err != nil {
		return "", err
	}
	defer listener.Close()
	completion := at.completion
	if !at.instead {
		completion = "proxy_pass http://sim; " + completion
	}
	config, err := s.write("nginx.conf", fmt.Sprintf(nginxConfig, sim.Addr(), at.http, addr, at.listen, at.server,
		completion))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(s.ctx, "nginx", "-p", s.dir, "-c", config, "-e", "nginx.log")
	// The first of ExtraFiles is descriptor 3.
	cmd.Env, cmd.ExtraFiles = append(os.Environ(), "NGINX=3;"), []*os.File{listener}
	return addr, s.start(cmd, nil)
}

// nginxCases have nginx before the simulator, over plain HTTP.
func nginxCases() []*Case {
	const group = "Proxies: nginx"
	proxied := func(how string, at site, c Case) *Case {
		c.Group, c.How, c.Needs = group, how, []string{"nginx"}
		c.Make = func(s *Stage) (string, error) {
			s.Env = append(s.Env, "OPENAI_API_KEY="+at.key)
			addr, err := s.nginx(at)
			return "http://" + addr, err
		}
		return &c
	}
	status := Want{Failed: Failures{"status": 20}, Suspect: []string{"completed"}, Exit: 1}
	some := func(class string) Want { return Want{Failed: Failures{class: 5}, Suspect: []string{"failed"}} }
	opens := func(least int, says string) Want {
		return Want{Says: says, Check: func(o *Outcome) error {
			return within("connections opened", float64(o.Result.Truth.Opened), float64(least), requests+1)
		}}
	}
	few := []string{"--max-concurrency", "4"}
	locked := "`if ($http_authorization != \"Bearer right\") { return 401; }`"
	lock := `if ($http_authorization != "Bearer right") { return 401; }`
	missing := "`proxy_pass http://unix:/nowhere`"
	return []*Case{
		proxied("`proxy_buffering on` (the default)", site{},
			Case{Fault: "answers are buffered", Want: Want{Check: (*Outcome).short}}),
		proxied("`proxy_buffering off`", site{server: "proxy_buffering off;"},
			Case{Fault: "answers are not buffered", Want: Want{Check: (*Outcome).short}}),
		proxied("`client_max_body_size 64`", site{server: "client_max_body_size 64;"},
			Case{Fault: "prompts exceed its limit", Want: status}),
		proxied("`limit_req zone=all burst=14 nodelay; limit_req_status 429; add_header Retry-After 1 always`",
			site{http: "limit_req_zone all zone=all:1m rate=1r/m;",
				completion: "limit_req zone=all burst=14 nodelay; limit_req_status 429; add_header Retry-After 1 always;"},
			Case{Fault: "it accepts 15 requests", Want: some("status")}),
		proxied("likewise, with `rate=10r/s`",
			site{http: "limit_req_zone all zone=all:1m rate=10r/s;",
				completion: "limit_req zone=all burst=14 nodelay; limit_req_status 429; add_header Retry-After 1 always;"},
			Case{Fault: "it accepts 15 requests, and the others are retried", Args: []string{"--retries", "2"},
				Want: Want{Says: "5 requests sent again after failures, 5 times in all"},
				Lost: "latencies of the retried requests include the second of Retry-After"}),
		proxied(missing, site{instead: true, completion: "proxy_pass http://unix:/nowhere;"},
			Case{Fault: "it finds no server (502)", Want: status}),
		proxied("`proxy_read_timeout 1s`; `sim --fault never --fault-every 4`",
			site{server: "proxy_read_timeout 1s;", sim: []string{"--fault", "never", "--fault-every", "4"}},
			Case{Fault: "it stops waiting for an answer (504)", Want: some("status")}),
		proxied("`proxy_read_timeout 1s`; `sim --fault stall=5 --fault-every 4`",
			site{server: "proxy_read_timeout 1s;", sim: []string{"--fault", "stall=5", "--fault-every", "4"}},
			Case{Fault: "it gives up in the middle of an answer", Want: some("truncated")}),
		proxied("`return 307 http://127.0.0.1:9$request_uri`",
			site{instead: true, completion: "return 307 http://127.0.0.1:9$request_uri;"},
			Case{Fault: "it redirects", Want: status}),
		proxied(locked, site{server: lock}, Case{Fault: "there is no API key", Want: Want{Exit: 1, Unsent: requests}}),
		proxied("`OPENAI_API_KEY=wrong`; "+locked, site{server: lock, key: "wrong"},
			Case{Fault: "the API key is wrong", Want: Want{Exit: 1, Unsent: requests}}),
		proxied("`OPENAI_API_KEY=right`; "+locked, site{server: lock, key: "right"}, Case{Fault: "the API key is right"}),
		proxied("`keepalive_timeout 0`", site{server: "keepalive_timeout 0;"},
			Case{Fault: "it closes after each answer", Args: few,
				Want: opens(requests, "the server closed the connection after 20 answers: the next request opens a new "+
					"connection"), Lost: "nothing: each request connects, and TTFT includes that"}),
		proxied("`keepalive_requests 2`", site{server: "keepalive_requests 2;"},
			Case{Fault: "it closes after two answers", Args: few,
				Want: opens(requests/2, "the next request opens a new connection")}),
		proxied("`keepalive_timeout 100ms`", site{server: "keepalive_timeout 100ms;"},
			Case{Fault: "it closes idle connections before we do",
				Args: strings.Fields("--request-rate 4 --burstiness 1000 --random-output-len 5"), Want: opens(requests-2, "")}),
	}
}
