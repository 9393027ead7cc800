// Package sleep is a model of vLLM's sleep mode: its calls, and how long they take.
//
// Level 1 keeps the weights in the host's memory, level 2 drops them, so that they are loaded again
// after the wake. The requests of a sleeping server wait. A kvcached pool stays as it is. It is a
// model, and was not measured on a GPU.
package sleep

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Times are how long the calls take.
type Times struct {
	Sleep   time.Duration // POST /sleep
	Weights time.Duration // of POST /wake_up, for the weights
	KVCache time.Duration // of POST /wake_up, for the KV cache
	Reload  time.Duration // POST /collective_rpc with reload_weights
}

// Usual are the times in the log of kvcached's README, for a model of 1B: 2.2 s to sleep, 0.12 s
// to wake up. Loading weights of 2.5 GB at 2.5 GB a second takes one more.
func Usual() Times {
	return Times{Sleep: 2200 * time.Millisecond, Weights: 100 * time.Millisecond, KVCache: 20 * time.Millisecond,
		Reload: time.Second}
}

// Parse reads times with commas between, as in "sleep=2s,weights=100ms,kv-cache=20ms,reload=1s".
// What is not listed has its usual time.
func Parse(text string) (t Times, err error) {
	t = Usual()
	of := map[string]*time.Duration{"sleep": &t.Sleep, "weights": &t.Weights, "kv-cache": &t.KVCache, "reload": &t.Reload}
	for item := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		if of[name] == nil {
			return t, fmt.Errorf("%q: it must be sleep, weights, kv-cache or reload", name)
		}
		if *of[name], err = time.ParseDuration(value); err != nil || *of[name] < 0 {
			return t, fmt.Errorf("%s=%s: it must be a time that is not negative, as in %s=100ms", name, value, name)
		}
	}
	return t, nil
}

// A Mode knows whether a server sleeps. It is safe for concurrent use.
type Mode struct {
	times Times

	calls chan struct{} // holds a value during a call, since there is one at a time
	mu    sync.Mutex
	awake chan struct{}   // closed while the server is awake
	tags  map[string]bool // what sleeps: weights, kv_cache
	bare  bool            // the weights were dropped and not loaded again
}

// New makes the Mode of a server that is awake.
func New(times Times) *Mode {
	awake := make(chan struct{})
	close(awake)
	return &Mode{times: times, calls: make(chan struct{}, 1), awake: awake, tags: map[string]bool{}}
}

// Gate is closed while the server is awake.
func (s *Mode) Gate() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.awake
}

// Bare reports whether the server is awake without weights.
func (s *Mode) Bare() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bare && len(s.tags) == 0
}

// doze falls asleep. Level 2 drops the weights.
func (s *Mode) doze(level string) {
	s.mu.Lock()
	if len(s.tags) == 0 {
		s.awake = make(chan struct{})
	}
	s.tags = map[string]bool{"weights": true, "kv_cache": true}
	s.bare = s.bare || level == "2"
	s.mu.Unlock()
	time.Sleep(s.times.Sleep)
}

// wake wakes up what has the tags; without tags, all.
func (s *Mode) wake(tags []string) {
	if tags == nil {
		tags = []string{"weights", "kv_cache"}
	}
	for _, tag := range tags {
		s.mu.Lock()
		asleep := s.tags[tag]
		s.mu.Unlock()
		if !asleep {
			continue
		}
		time.Sleep(map[string]time.Duration{"weights": s.times.Weights, "kv_cache": s.times.KVCache}[tag])
		s.mu.Lock()
		if delete(s.tags, tag); len(s.tags) == 0 {
			close(s.awake)
		}
		s.mu.Unlock()
	}
}

// call waits for the call before this one, and gives the function that ends this one. A channel waits in fake
// time, which stands still for a Mutex.
func (s *Mode) call() (end func()) {
	s.calls <- struct{}{}
	return func() { <-s.calls }
}

// Handle adds the calls of a vLLM with --enable-sleep-mode and VLLM_SERVER_DEV_MODE=1.
func (s *Mode) Handle(mux *http.ServeMux) {
	mux.HandleFunc("POST /sleep", func(w http.ResponseWriter, r *http.Request) {
		level := cmp.Or(r.URL.Query().Get("level"), "1")
		if level != "1" && level != "2" {
			http.Error(w, "level "+level+" is not simulated: it must be 1 or 2", http.StatusBadRequest)
			return
		}
		defer s.call()()
		s.doze(level)
	})
	mux.HandleFunc("POST /wake_up", func(_ http.ResponseWriter, r *http.Request) {
		defer s.call()()
		s.wake(r.URL.Query()["tags"])
	})
	mux.HandleFunc("GET /server_info", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, `{"vllm_config":{"model_config":{"enable_sleep_mode":true},"device_config":{"device":"cuda"}}}`)
	})
	mux.HandleFunc("GET /is_sleeping", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		reply(w, fmt.Sprintf(`{"is_sleeping":%t}`, len(s.tags) > 0))
	})
	mux.HandleFunc("POST /collective_rpc", func(w http.ResponseWriter, r *http.Request) {
		defer s.call()()
		time.Sleep(s.times.Reload)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bare = false
		reply(w, `{"results":[null]}`)
	})
}

func reply(w http.ResponseWriter, json string) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, json)
}
