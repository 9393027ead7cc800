package sleep_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/servebench/servebench/loadgen/sim/sleep"
)

// A server that falls asleep at once.
func Example() {
	mux := http.NewServeMux()
	sleep.New(sleep.Times{}).Handle(mux)
	mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/sleep?level=2", nil))
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest("GET", "/is_sleeping", nil))
	fmt.Println(answer.Body)
	// Output: {"is_sleeping":true}
}
