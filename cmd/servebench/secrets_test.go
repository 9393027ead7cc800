package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/servebench/servebench/loadgen/redact"
)

// A telltale is a server that quotes the headers of each request in its answer, in
// another way each time.
type telltale struct{ requests atomic.Int64 }

// startTelltale runs one until the end of the script, over TLS if asked to, and puts
// its URL into $URL and its host into $HOST, and the former into the files named.
func startTelltale(ts *testscript.TestScript, _ bool, args []string) {
	server := httptest.NewUnstartedServer(new(telltale))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if len(args) > 0 && args[0] == "tls" {
		server.StartTLS()
	} else {
		server.Start()
	}
	ts.Defer(server.Close)
	ts.Setenv("URL", server.URL)
	ts.Setenv("HOST", server.Listener.Addr().String())
	for _, name := range args {
		if name != "tls" {
			text := strings.ReplaceAll(ts.ReadFile(name), "$URL", server.URL)
			ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o666))
		}
	}
}

func (s *telltale) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var values []string
	for name, all := range r.Header {
		for _, value := range all {
			values = append(values, name+": "+value)
		}
	}
	slices.Sort(values)
	said := strings.Join(values, ", ")
	if strings.Contains(said, "xxxx") {
		said = "the key did not come" // hidden from its receiver, too
	}
	if r.URL.Path == "/v1/models" {
		fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		return
	}
	if !strings.HasPrefix(r.URL.Path, "/v1/") {
		http.Error(w, said, http.StatusForbidden)
		return
	}
	tellings[int(s.requests.Add(1)-1)%len(tellings)](w, r, said)
}

// tellings are ways to quote a text.
var tellings = []func(w http.ResponseWriter, r *http.Request, said string){
	func(w http.ResponseWriter, _ *http.Request, said string) {
		event(w, "data: %s\n\ndata: [DONE]\n\n", chunkOf(said, ""))
	},
	func(w http.ResponseWriter, _ *http.Request, said string) {
		w.WriteHeader(http.StatusUnauthorized)
		text, _ := json.Marshal(map[string]any{"error": map[string]any{"message": said}})
		w.Write(text)
	},
	func(w http.ResponseWriter, _ *http.Request, said string) {
		w.WriteHeader(http.StatusUnauthorized)
		text, _ := json.Marshal(map[string]any{"error": map[string]any{"headers": said}})
		w.Write(text)
	},
	func(w http.ResponseWriter, _ *http.Request, said string) { http.Error(w, said, http.StatusForbidden) },
	func(w http.ResponseWriter, _ *http.Request, said string) {
		http.Error(w, strconv.QuoteToASCII(said), http.StatusForbidden)
	},
	func(w http.ResponseWriter, _ *http.Request, said string) {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, "<html><title>%s</title>", html.EscapeString(said))
	},
	func(w http.ResponseWriter, _ *http.Request, said string) {
		http.Error(w, url.QueryEscape(said), http.StatusBadGateway)
	},
	func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, "/login?key="+url.QueryEscape(r.Header.Get("X-Key")), http.StatusTemporaryRedirect)
	},
	func(w http.ResponseWriter, r *http.Request, _ string) {
		text := base64.StdEncoding.EncodeToString([]byte(r.Header.Get("X-Key"))) + " " + base64.URLEncoding.EncodeToString([]byte(r.Header.Get("X-Key")+" and more"))
		sent := r.Header.Get("Authorization")
		text += " " + base64.StdEncoding.EncodeToString([]byte(sent)) + " " + sent[:min(len(sent), 19)] + "…"
		var body struct {
			Key string `json:"api_key"`
		}
		json.NewDecoder(r.Body).Decode(&body)
		http.Error(w, text+" "+body.Key+" "+sent[:min(len(sent), 17)]+"***", http.StatusBadRequest)
	},
	func(w http.ResponseWriter, _ *http.Request, said string) {
		event(w, "data: %s\n\ndata: {\"error\":{\"message\":%q}}\n\n", chunkOf("a", ""), said)
	},
	func(w http.ResponseWriter, _ *http.Request, said string) { event(w, "data: no, %s\n\n", said) },
	func(w http.ResponseWriter, r *http.Request, _ string) {
		key := r.Header.Get("X-Key")
		http.Error(w, strings.Repeat("-", 500-len(key)/2)+key, http.StatusBadRequest)
	},
	func(w http.ResponseWriter, r *http.Request, _ string) {
		event(w, "data: %s\n\n", chunkOf("a", r.Header.Get("X-Key")))
	},
	func(w http.ResponseWriter, _ *http.Request, said string) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			fmt.Fprintf(conn, "%s\r\n\r\n", said)
			conn.Close()
		}
	},
}

func event(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, format, args...)
}

// chunkOf is a chunk with a text and a finish reason.
func chunkOf(text, finish string) []byte {
	chunk, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "text": text, "finish_reason": finish}}})
	if err != nil {
		panic(err)
	}
	return chunk
}

// checkHidden looks for texts in what the last command printed and in all files of
// the script but its own ones, which are those of YAML.
func checkHidden(ts *testscript.TestScript, _ bool, texts []string) {
	shown := map[string]string{"stdout": ts.ReadFile("stdout"), "stderr": ts.ReadFile("stderr")}
	root := ts.Getenv("WORK")
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) == ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		shown[path] = string(text)
		return err
	}))
	if len(shown) < 3 {
		ts.Fatalf("there is no file in %s", root)
	}
	for name, text := range shown {
		for _, secret := range texts {
			if i := strings.Index(text, secret); i >= 0 {
				ts.Fatalf("%s shows %s: %s", name, secret, text[max(0, i-200):min(len(text), i+200)])
			}
		}
	}
}

// checkArguments waits until the arguments of the script's background commands, as
// all users see them, have none of the texts.
func checkArguments(ts *testscript.TestScript, _ bool, texts []string) {
	commands := ts.BackgroundCmds()
	if len(commands) == 0 {
		ts.Fatalf("there is no background command")
	}
	for _, cmd := range commands {
		var seen string
		masked := func() bool {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
			ts.Check(err)
			seen = string(text)
			shown := func(secret string) bool { return strings.Contains(seen, secret) }
			return strings.Contains(seen, "--num-prompts") && !slices.ContainsFunc(texts, shown)
		}
		if !eventually(masked) {
			ts.Fatalf("the arguments are %q", seen)
		}
	}
}

// checkPrivate makes sure that files are their owner's alone.
func checkPrivate(ts *testscript.TestScript, _ bool, files []string) {
	for _, name := range files {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if mode := info.Mode().Perm(); mode != 0o600 {
			ts.Fatalf("%s has the mode %o", name, mode)
		}
	}
}

// What is shown of a URL has no password and no key, however it is written.
func FuzzRedactURL(f *testing.F) {
	f.Add("http://", "h:1/a", "api-version=1")
	f.Add("", "h", "x")
	f.Add("https://", "[::1]:8000", "a&b=c")
	f.Fuzz(func(t *testing.T, scheme, host, query string) {
		const secret = "s3cret-PassW0rd"
		for _, link := range []string{
			scheme + "me:" + secret + "@" + host, scheme + secret + "@" + host + "?" + query, scheme + host + "?" + query + "&api_key=" + secret,
		} {
			if strings.Contains(scheme+host+query, "#") || strings.ContainsAny(scheme+host, "?&/@") && scheme != "http://" && scheme != "https://" && scheme != "" {
				continue
			}
			if shown := redact.URL(link); strings.Contains(shown, secret) {
				t.Errorf("%q is shown as %q", link, shown)
			}
		}
	})
}

func FuzzMask(f *testing.F) {
	f.Add("s3cret-key", "no such key: ", ", sorry")
	f.Add("Bearer abc", "…", "…")
	f.Add("<redacted>", "<", ">")
	f.Add("aaaa", "aa", "aa")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		var s redact.Secrets
		s.AddHeader("X-Key", secret)
		if strings.Contains(redact.Mark, secret) || len(secret) < redact.Least {
			return
		}
		escaped := strconv.Quote(secret)
		for _, said := range []string{secret, escaped[1 : len(escaped)-1], url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret))} {
			clean := s.Mask(before) == before && s.Mask(after) == after
			if got := s.Mask("\x00" + said + "\x00"); clean && strings.Contains(got, said) {
				t.Errorf("%q is shown as %q", said, got)
			}
			if got := s.Mask(before + said + after); !strings.Contains(before+after, redact.Mark) && !strings.Contains(got, redact.Mark) {
				t.Errorf("%q is shown as %q", before+said+after, got)
			}
		}
	})
}

func TestPasswordsOfProxiesAreSecrets(t *testing.T) {
	t.Setenv("http_proxy", "http://me:p4ssword@proxy.test:3128")
	t.Setenv("HTTPS_PROXY", "http://me:p4ss%zz@[proxy")
	s := mustParse(t, "").Plan.Server.Secrets
	if got := s.Mask("p4ssword bWU6cDRzc3dvcmQ= http://me:p4ss%zz@[proxy"); strings.Contains(got, "p4ss") || strings.Contains(got, "bWU6") {
		t.Error(got)
	}
}

func TestANameInAURLMayBeAToken(t *testing.T) {
	o := mustParse(t, "--base-url https://t0ken@h.test")
	if shown := fmt.Sprint(o.Plan.Flags, o.Plan.Config(), o.Plan.Server.Secrets.Mask("t0ken")); strings.Contains(shown, "t0ken") {
		t.Error(shown)
	}
}

func TestNotesOfTheCommandLineShowNoSecret(t *testing.T) {
	for _, argv := range [][]string{
		{"--base-url", "me:s3cret@h:1"},
		{"--base-url", "h:1?key=s3cret"},
		{"--base-url", "http://s3cret@h:1/v1"},
		{"--target", "a=me:s3cret@h:1,seed=2"},
	} {
		o, err := parseRun(argv)
		if err != nil || len(o.Notes) != 1 || strings.Contains(o.Notes[0], "s3cret") {
			t.Errorf("%q: %q, %v", argv, o.Notes, err)
		}
	}
}

func TestErrorsOfTheCommandLineShowNoSecret(t *testing.T) {
	for _, argv := range [][]string{
		{"--header", "Authorization=Bearer", "s3cret"},
		{"--header=Authorization=Bearer", "s3cret"},
		{"--header", "Authorization:Bearer", "s3cret"},
		{"--header", "s3cret"},
		{"--he=Authorization=s3cret"},
		{"--headers=A=s3cret"},
		{"--base-url", "http://me:s3cret@h:1/#a"},
		{"--base-url", "me:s3cret@h:x"},
		{"--base-url", "http:/me:s3cret@h:1"},
		{"--base-url", "h:0?key=s3cret"},
		{"--base-url", "http://h:1?key=s3cret and more"},
		{"--base-url=http://s3cret@h", "s3cret"},
		{"--headr=Authorization=Bearer s3cret"},
		{"--Header=Authorization=Bearer s3cret"},
		{"-HAuthorization: Bearer s3cret"},
		{"http://me:s3cret@h"},
		{"me:s3cret@h:1"},
		{"http://h?api-key=s3cret"},
		{"--endpoint", "/v1/embeddings?key=s3cret"},
		{"--target", "a=http://me:s3cret@h:x"},
		{"--target", "a=http://h,header=A s3cret"},
	} {
		if _, err := parseRun(argv); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", argv, err)
		}
	}
}
