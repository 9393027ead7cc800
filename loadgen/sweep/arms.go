package sweep

import (
	"net/url"
	"reflect"
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

// An armEntry is an arm as a file has it. An arm with one server may have the server's keys itself.
type armEntry struct {
	Arm    Arm        `yaml:",inline"`
	Single Server     `yaml:",inline"` // its one server
	Load   *yaml.Node `yaml:"load"`    // flags of its runs
	Grid   *yaml.Node `yaml:"grid"`    // in place of the experiment's
}

// UnmarshalYAML reads the keys of an arm and of a server.
func (e *armEntry) UnmarshalYAML(node *yaml.Node) error {
	e.Arm.Line, e.Single = node.Line, newServer(node.Line)
	return fields(node, "an arm", e)
}

func (p *parser) arms(entries []armEntry) ([]Arm, error) {
	var arms []Arm
	for _, e := range entries {
		if err := p.arm(&e); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(arms, func(other Arm) bool { return other.Name == e.Arm.Name }) {
			return nil, at(&yaml.Node{Line: e.Arm.Line}, "two arms are named %q", e.Arm.Name)
		}
		arms = append(arms, e.Arm)
	}
	return arms, nil
}

// arm checks and completes the arm of an entry.
func (p *parser) arm(e *armEntry) (err error) {
	a, node := &e.Arm, &yaml.Node{Line: e.Arm.Line}
	if a.Flags, err = p.load(e.Load); err != nil {
		return err
	}
	a.grid = e.Grid
	switch {
	case a.Name == "" || len(url.QueryEscape(a.Name)) > maxName || strings.ContainsFunc(a.Name, unicode.IsControl):
		return at(node, "name: %q: an arm must have a name, on one line and not too long to name its log", a.Name)
	case a.Servers != nil && e.Single.given():
		return at(node, "arm %s: its commands stand in servers", a.Name)
	case e.Single.given():
		a.Servers = []Server{e.Single}
	}
	for i := range a.Servers {
		if err := a.Servers[i].complete(a); err != nil {
			return err
		}
	}
	return nil
}

// Labels are names with texts, in the order of the file and as it spells them.
type Labels []metrics.KV

// UnmarshalYAML refuses names that every run has already.
func (l *Labels) UnmarshalYAML(node *yaml.Node) error {
	return entries(node, "labels", func(key, value *yaml.Node) error {
		switch {
		case value.Kind != yaml.ScalarNode:
			return at(value, "%s: a label must be a number or a text", key.Value)
		case key.Value == "arm" || key.Value == "repeat" || key.Value == "target":
			return at(key, "%s: every run has that label already", key.Value)
		}
		*l = append(*l, metrics.KV{Key: key.Value, Value: value.Value})
		return nil
	})
}

// UnmarshalYAML reads a server, with its line and the usual times.
func (s *Server) UnmarshalYAML(node *yaml.Node) error {
	*s = newServer(node.Line)
	return fields(node, "a server", s)
}

func newServer(line int) Server { return Server{Within: usualWithin, Grace: usualGrace, Line: line} }

// given reports whether the file has any key of the server.
func (s *Server) given() bool { return !reflect.DeepEqual(*s, newServer(s.Line)) }

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
		return at(node, "arm %s: %q: url, or else ready, must be the http:// URL at which the server answers once it is up",
			a.Name, s.Ready)
	}
	return nil
}
