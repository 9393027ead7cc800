package sweep

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/metrics"
)

// Defaults of the file: a server has usualWithin to start, since it may load a large model, and
// usualGrace to stop before it is killed.
const (
	usualWithin = 15 * time.Minute
	usualGrace  = 30 * time.Second

	usualArm = "server" // without arms

	maxName = 200 // bytes of an arm's name in the name of its log

	betweenWithin = 10 * time.Minute // for the command between runs
	betweenGrace  = 10 * time.Second
)

// Kept is the first arm whose server nobody starts again between repeats: neither the sweep nor the
// command between runs. It is nil if there is none.
func (p *Plan) Kept() *Arm {
	at := slices.IndexFunc(p.Arms, func(a Arm) bool { return a.Servers == nil })
	if at < 0 || p.Between.Command != nil {
		return nil
	}
	return &p.Arms[at]
}

func (p *parser) arms(node *yaml.Node) ([]Arm, error) {
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		return nil, at(node, "arms must be a list of server configurations")
	}
	var arms []Arm
	for _, item := range node.Content {
		a, err := p.arm(resolved(item))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(arms, func(other Arm) bool { return other.Name == a.Name }) {
			return nil, at(item, "two arms are named %q", a.Name)
		}
		arms = append(arms, *a)
	}
	return arms, nil
}

// arm reads one arm. An arm with one server may have the server's keys itself.
func (p *parser) arm(node *yaml.Node) (*Arm, error) {
	a := &Arm{Line: node.Line}
	single := newServer(node)
	var load, servers *yaml.Node
	keys := single.keys()
	keys["name"], keys["url"], keys["load"], keys["servers"] = &a.Name, &a.URL, &load, &servers
	keys["grid"], keys["labels"] = &a.grid, a.label
	keys["needs"] = a.Needs.read
	if err := fields(node, "an arm", keys); err != nil {
		return nil, err
	}
	var err error
	if a.Flags, err = p.load(load); err != nil {
		return nil, err
	}
	switch {
	case a.Name == "" || len(url.QueryEscape(a.Name)) > maxName || strings.ContainsFunc(a.Name, unicode.IsControl):
		return nil, at(node, "name: %q: an arm must have a name, on one line and not too long to name its log", a.Name)
	case servers != nil && single.given():
		return nil, at(node, "arm %s: its commands stand in servers", a.Name)
	case servers != nil:
		if a.Servers, err = readServers(servers); err != nil {
			return nil, err
		}
	case single.given():
		a.Servers = []Server{*single}
	}
	for i := range a.Servers {
		if err := a.Servers[i].complete(a); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// label reads the labels of the arm.
func (a *Arm) label(node *yaml.Node) error {
	return entries(node, "labels", func(key, value *yaml.Node) error {
		switch {
		case value.Kind != yaml.ScalarNode:
			return at(value, "%s: a label must be a number or a text", key.Value)
		case key.Value == "arm" || key.Value == "repeat" || key.Value == "target":
			return at(key, "%s: every run has that label already", key.Value)
		}
		a.Labels = append(a.Labels, metrics.KV{Key: key.Value, Value: value.Value})
		return nil
	})
}

func readServers(node *yaml.Node) ([]Server, error) {
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		return nil, at(node, "servers must be a list")
	}
	var servers []Server
	for _, item := range node.Content {
		s := newServer(resolved(item))
		if err := fields(resolved(item), "a server", s.keys()); err != nil {
			return nil, err
		}
		servers = append(servers, *s)
	}
	return servers, nil
}

func newServer(node *yaml.Node) *Server {
	return &Server{Within: usualWithin, Grace: usualGrace, Line: node.Line}
}

// keys are the keys of a server in the file, and where their values go.
func (s *Server) keys() map[string]any {
	return map[string]any{
		"command": command(&s.Command), "env": &s.Env, "folder": &s.Folder, "ready": &s.Ready, "ready-timeout": duration(&s.Within),
		"stop": command(&s.Stop), "stop-timeout": duration(&s.Grace), "log": &s.Log,
	}
}

// given reports whether the file has any key of the server.
func (s *Server) given() bool {
	return s.Command != nil || s.Env != nil || s.Stop != nil || s.Folder+s.Ready+s.Log != "" ||
		s.Within != usualWithin || s.Grace != usualGrace
}

// complete checks s and sets Ready where the file does not.
func (s *Server) complete(a *Arm) error {
	node := &yaml.Node{Line: s.Line}
	if s.Command == nil {
		return at(node, "arm %s: a server must have a command", a.Name)
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return at(node, "arm %s: env: %q cannot be in an environment", a.Name, name)
		}
	}
	if s.Ready == "" && a.URL != "" {
		s.Ready = strings.TrimRight(a.URL, "/") + "/v1/models"
	}
	if u, err := url.Parse(AnyPorts(s.Ready)[0]); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return at(node, "arm %s: %q: url, or else ready, must be the http:// URL at which the server answers once it is up", a.Name, s.Ready)
	}
	return nil
}
