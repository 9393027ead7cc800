package loadgen

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// overheard keeps what a run remarks.
type overheard struct {
	Quiet
	mu  sync.Mutex
	all []string
}

func (r *overheard) Remark(_, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, text)
}

// about are the remarks with a text.
func (r *overheard) about(text string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.all), func(said string) bool { return !strings.Contains(said, text) })
}

// A server that takes requests and never answers gets a remark after half a minute, once, and before the
// load as well. A slow one that answers just in time gets none.
func TestASilentServerIsNoticed(t *testing.T) {
	const setting = "Limits.FirstByte = time.Minute ends requests that get none; without it they wait for long"
	for name, c := range map[string]struct {
		after   time.Duration // until the server answers
		prepare func(*Plan)
		want    []string
	}{
		"a load": {10 * time.Minute, func(*Plan) {}, []string{"WARNING: the server has sent no output for 30 s, in 2 requests: " + setting}},
		"a load with a limit": {10 * time.Minute, func(p *Plan) { p.Limits.FirstByte = time.Minute },
			[]string{"WARNING: the server has sent no output for 30 s, in 2 requests: Limits.FirstByte ends requests that get none after 1m0s"}},
		"a warm-up": {time.Minute, func(p *Plan) { p.Traffic.Warmups = 1 }, []string{
			"WARNING: the server has sent no output for 30 s, in 1 request: " + setting, "WARNING: the server has sent no output for 30 s, in 2 requests: " + setting}},
		"a ready check": {time.Minute, func(p *Plan) { p.Traffic.ReadyCheck = time.Hour }, []string{
			"WARNING: the server has sent no output for 30 s, in 1 request: " + setting, "WARNING: the server has sent no output for 30 s, in 2 requests: " + setting}},
		"a slow server": {29 * time.Second, func(*Plan) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan := onHandler(t)
				answers := plan.Server.Handler
				plan.Server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPost {
						body, _ := io.ReadAll(r.Body) // only then does the server notice that the client has gone
						r.Body = io.NopCloser(bytes.NewReader(body))
						select {
						case <-time.After(c.after):
						case <-r.Context().Done():
							return
						}
					}
					answers.ServeHTTP(w, r)
				})
				c.prepare(plan)
				var said overheard
				if _, err := plan.Run(t.Context(), &said); err != nil && plan.Limits.FirstByte == 0 {
					t.Fatal(err)
				}
				if got := said.about("no output"); !slices.Equal(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}
