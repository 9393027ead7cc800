package sleep

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// call makes a call and returns its answer and how long it took.
func call(mux http.Handler, method, path string) (answer string, took time.Duration) {
	start := time.Now()
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	if w.Code != http.StatusOK {
		return http.StatusText(w.Code), time.Since(start)
	}
	return w.Body.String(), time.Since(start)
}

func TestEachCallTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mux := http.NewServeMux()
		m := New(Times{Sleep: 5 * time.Second, Weights: 300 * time.Millisecond, KVCache: 20 * time.Millisecond, Reload: 2 * time.Second})
		m.Handle(mux)
		for _, step := range []struct {
			method, path, answer string
			took                 time.Duration
			sleeps, bare         bool
		}{
			{"POST", "/sleep?level=0", "Bad Request", 0, false, false},
			{"POST", "/sleep", "", 5 * time.Second, true, false},
			{"GET", "/is_sleeping", `{"is_sleeping":true}`, 0, true, false},
			{"POST", "/wake_up", "", 320 * time.Millisecond, false, false},
			{"POST", "/wake_up", "", 0, false, false},
			{"POST", "/sleep?level=2", "", 5 * time.Second, true, false},
			{"POST", "/wake_up?tags=weights", "", 300 * time.Millisecond, true, false},
			{"POST", "/wake_up?tags=kv_cache", "", 20 * time.Millisecond, false, true},
			{"POST", "/collective_rpc", `{"results":[null]}`, 2 * time.Second, false, false},
			{"GET", "/is_sleeping", `{"is_sleeping":false}`, 0, false, false},
		} {
			answer, took := call(mux, step.method, step.path)
			sleeps := true
			select {
			case <-m.Gate():
				sleeps = false
			default:
			}
			if answer != step.answer || took != step.took || sleeps != step.sleeps || m.Bare() != step.bare {
				t.Errorf("%s: %q after %v, sleeps %t, bare %t; want %+v", step.path, answer, took, sleeps, m.Bare(), step)
			}
		}
	})
}

func TestTimesAreReadFromAList(t *testing.T) {
	got, err := Parse("sleep=1s, kv-cache=5ms")
	if want := (Times{time.Second, Usual().Weights, 5 * time.Millisecond, Usual().Reload}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "sleep", "sleep=-1s", "wake=1s"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
