package openai

import (
	"io"
	"net/http"
	"testing"
)

func TestWhoCanSleep(t *testing.T) {
	for _, c := range []struct {
		name, reply string
		known       bool
		err         error
	}{
		{"a GPU", `{"vllm_config": {"model_config": {"enable_sleep_mode": true}, "device_config": {"device": "cuda"}}}`, true, nil},
		{"without the flag", `{"vllm_config": {"model_config": {"enable_sleep_mode": false}, "device_config": {"device": "cuda"}}}`, true, errNoSleepMode},
		{"a CPU", `{"vllm_config": {"model_config": {"enable_sleep_mode": true}, "device_config": {"device": "cpu"}}}`, true, errNoSleepHere},
		{"an old release on a CPU", `{"vllm_config": "model='m', device_config=cpu, seed=0"}`, true, errNoSleepHere},
		{"an old release on a GPU", `{"vllm_config": "model='m', device_config=cuda, seed=0"}`, false, nil},
		{"another server", `{"version": 7}`, false, nil},
		{"other members", `{"vllm_config": {"model_config": {"enable_sleep_mode": "yes"}, "device_config": 7}}`, false, nil},
		{"no such call", "", false, nil},
		{"no JSON", "hello", false, nil},
	} {
		s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/server_info" || r.URL.RawQuery != "config_format=json" || c.reply == "" {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = io.WriteString(w, c.reply)
		})
		if known, err := s.CanSleep(t.Context()); known != c.known || err != c.err {
			t.Errorf("%s: known %t, %v; want %t, %v", c.name, known, err, c.known, c.err)
		}
	}
}
