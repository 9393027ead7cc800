package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/servebench/servebench/loadgen/sweep/hold"
)

// A process is a running server.
type process struct {
	*hold.Hold
	server *Server
	log    string
	from   int64 // where its part of the log begins
}

// readyInterval is how often a server is asked whether it is up.
const readyInterval = 100 * time.Millisecond

// unused checks that no other server listens at the address of this one. It would answer instead.
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

// keyVariable has the client's API key. A server does not inherit it: if it needs a key
// itself, its Env has one.
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
		case <-p.Ended.Done():
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

// answers asks a server whether it is up. The error says what is wrong with it.
func answers(ctx context.Context, ready string) error {
	client := &http.Client{Timeout: 5 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, ready, nil)
	if err != nil {
		return err
	}
	reply, err := client.Do(r)
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", shownURL(r.URL), wrong.Err) // whose text has the query
	} else if err != nil {
		return err
	}
	reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", shownURL(r.URL), reply.Status)
	}
	return nil
}

// shownURL is u without its user and its query, which may be secrets.
func shownURL(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return shown.String()
}

// died says how the server ended, if nobody stopped it.
func (p *process) died() error {
	how := "by itself"
	if err := p.Err(); err != nil {
		how = "with " + err.Error()
	}
	return fmt.Errorf("the server ended %s%s", how, p.tail())
}

// logOf is the log of the i-th server of an arm.
func (s *Sweep) logOf(a *Arm, i int) (string, error) {
	if name := a.Servers[i].Log; name != "" {
		return name, nil
	}
	dir := filepath.Join(s.Dir, "logs")
	name := url.QueryEscape(a.Name) // no two names have the same
	if len(a.Servers) > 1 {
		name += fmt.Sprintf(",%d", i+1)
	}
	return filepath.Join(dir, name+".log"), os.MkdirAll(dir, 0o777)
}

const (
	tailLines = 12
	tailBytes = 4 << 10
)

// tail is the end of what the server printed, as more lines of an error.
func (p *process) tail() string {
	f, err := os.Open(p.log)
	if err != nil {
		return ""
	}
	defer f.Close()
	from := p.from
	if info, err := f.Stat(); err == nil {
		from = max(from, info.Size()-tailBytes)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	printed := ending(text)
	if err != nil || printed == "" {
		return fmt.Sprintf("; it has printed nothing to %s", p.log)
	}
	return fmt.Sprintf("; %s ends:\n  %s", p.log, printed)
}

// ending is the last few lines of what a program printed.
func ending(printed []byte) string {
	lines := strings.Split(readable(string(printed[max(0, len(printed)-tailBytes):])), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n  ")
}

// controlSequence sets colours, moves the cursor or changes the title of a terminal; see
// ECMA-48.
var controlSequence = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?)")

// readable is what a program printed, as plain lines. Each state of a progress bar is a
// line, too.
func readable(printed string) string {
	text := controlSequence.ReplaceAllString(strings.ToValidUTF8(printed, "\uFFFD"), "")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text))
}
