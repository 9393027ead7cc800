package sweep

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/loadtest"
)

// A truthServer completes 64 requests a second and no more: 16 at once, each in 250 ms.
type truthServer struct {
	slots  chan struct{}
	lumped bool // answers come in one piece, at their end
}

const truthTokens = 21

func newTruthServer(lumped bool) *truthServer {
	return &truthServer{slots: make(chan struct{}, 16), lumped: lumped}
}

func (s *truthServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		io.WriteString(w, `{"object": "list", "data": [{"id": "truth", "object": "model"}]}`)
		return
	}
	io.Copy(io.Discard, r.Body)
	s.slots <- struct{}{}
	defer func() { <-s.slots }()
	w.Header().Set("Content-Type", "text/event-stream")
	time.Sleep(10 * time.Millisecond)
	for i := range truthTokens {
		if i > 0 {
			time.Sleep(12 * time.Millisecond)
		}
		fmt.Fprintf(w, "data: {\"choices\": [{\"index\": 0, \"text\": \" x\"}]}\n\n")
		if !s.lumped {
			w.(http.Flusher).Flush()
		}
	}
	fmt.Fprintf(w, "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 10, \"completion_tokens\": %d, \"total_tokens\": %d}}\n\ndata: [DONE]\n\n", truthTokens, truthTokens+10)
}

// found is what a search comes to on a truth server, each probe in a time of its own.
func found(t *testing.T, until string, requests int, lumped bool) edge {
	s := parse(t, "until: "+until).Search
	var history []probe
	for {
		value, over := s.next(history)
		if over {
			return s.edge(history)
		}
		synctest.Test(t, func(t *testing.T) {
			load := loadtest.Load{
				Handler: newTruthServer(lumped), Requests: requests, Rate: value, InputLen: 10, OutputLen: truthTokens, IgnoreEOS: true, Seed: int64(len(history)),
			}
			sum, err := load.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			v, why := s.judge(sum)
			history = append(history, probe{value, v, why})
		})
	}
}

func TestSearchFindsNoRateAboveCapacity(t *testing.T) {
	if testing.Short() {
		t.Skip("searches of a whole range of rates: in go test without -short")
	}
	for _, row := range []struct {
		until       string
		requests    int
		lumped      bool
		least, most float64 // of the rate that holds; 0 for none
		why         string
	}{
		{"{flag: request-rate, from: 10, to: 320, step: 10, slo: {p99-ttft: 500}}", 60, false, 0, 0, "p99 TTFT has 60 samples and needs 1000"},
		{"{flag: request-rate, from: 10, to: 320, step: 10, slo: {p99-ttft: 500}}", 1000, false, 50, 60, "p99 TTFT is "},
		{"{flag: request-rate, from: 10, to: 200, step: 10, slo: {mean-tpot: 13}}", 600, false, 50, 60, "OVERLOADED: the backlog grew by "},
		{"{flag: request-rate, from: 10, to: 200, step: 10, slo: {mean-tpot: 13}}", 60, false, 30, 60, "it was too short to tell whether the server keeps up"},
		{"{flag: request-rate, from: 10, to: 320, step: 10, slo: {p99-itl: 50, mean-tpot: 50}}", 600, true, 0, 0, "came in one piece"},
	} {
		f := found(t, row.until, row.requests, row.lumped)
		if row.most == 0 && !math.IsNaN(f.passes) || row.most > 0 && !(f.passes >= row.least && f.passes <= row.most) || !strings.Contains(f.why, row.why) {
			t.Errorf("%s with %d requests, lumped %t: %+v", row.until, row.requests, row.lumped, f)
		}
	}
}
