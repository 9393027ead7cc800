package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/sweep/hold"
)

// A process is a server that was started.
type process struct {
	*hold.Hold
	server *Server
	log    string
	from   int64 // where in log it begins
}

// readyInterval is how often a server is asked whether it is up.
const readyInterval = 100 * time.Millisecond

// startServer starts a server whose ports are in place, and waits until it answers.
func (s *Sweep) startServer(ctx context.Context, server *Server, log string) (*process, error) {
	p := &process{server: server, log: log}
	if err := p.unused(); err != nil {
		return nil, err
	}
	if err := p.start(s.Journal.keeper); err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	if err := p.await(ctx); err != nil {
		p.End()
		return nil, err
	}
	return p, nil
}

// unused finds out whether another server is where this one is to be, which
// would answer in its place.
func (p *process) unused() error {
	u, err := url.Parse(p.server.Ready)
	if err != nil {
		return err
	}
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return nil
	}
	conn.Close()
	return fmt.Errorf("the port is in use: something listens at %s already", address)
}

func (p *process) start(keeper *hold.Keeper) error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil {
		p.from = info.Size()
	}
	env := withoutKey(os.Environ())
	for _, name := range slices.Sorted(maps.Keys(p.server.Env)) {
		env = append(env, name+"="+p.server.Env[name])
	}
	p.Hold, err = keeper.Start(&hold.Command{
		Args: p.server.Command, Stop: p.server.Stop, Grace: p.server.Grace, Dir: p.server.Folder, Env: env, Output: log,
	})
	return err
}

// keyVariable has the client's API key, which is not the server's: one that needs
// a key itself is given it in its Env.
const keyVariable = "OPENAI_API_KEY"

func withoutKey(env []string) []string {
	return slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, keyVariable+"=") })
}

// await waits until the server answers.
func (p *process) await(ctx context.Context) error {
	late := time.NewTimer(p.server.Within)
	defer late.Stop()
	again := time.NewTicker(readyInterval)
	defer again.Stop()
	last := errors.New("it was not asked")
	for {
		select {
		case <-p.Done:
			return p.died()
		case <-late.C:
			return fmt.Errorf("the server was not ready within %v: %w%s", p.server.Within, last, p.tail())
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
		}
		if last = answers(ctx, p.server.Ready); last == nil {
			return nil
		}
	}
}

// answers says what is wrong with a server, if anything.
func answers(ctx context.Context, ready string) error {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, ready, nil)
	if err != nil {
		return err
	}
	reply, err := client.Do(r)
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", shownURL(r.URL), wrong.Err) // its own URL has the query
	} else if err != nil {
		return err
	}
	reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", shownURL(r.URL), reply.Status)
	}
	return nil
}

// shownURL is u without what may be a secret.
func shownURL(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return shown.String()
}

// died says how the server ended by itself.
func (p *process) died() error {
	how := "by itself"
	if err := p.Err(); err != nil {
		how = "with " + err.Error()
	}
	return fmt.Errorf("the server ended %s%s", how, p.tail())
}

// logOf is where the i-th server of an arm prints to.
func (s *Sweep) logOf(a *Arm, i int) (string, error) {
	if name := a.Servers[i].Log; name != "" {
		return name, nil
	}
	dir := filepath.Join(s.Journal.Dir, "logs")
	name := url.QueryEscape(a.Name) // which keeps the names of all arms apart
	if len(a.Servers) > 1 {
		name += fmt.Sprintf(",%d", i+1)
	}
	return filepath.Join(dir, name+".log"), os.MkdirAll(dir, 0o777)
}
