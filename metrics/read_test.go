package metrics

import (
	"errors"
	"strings"
	"testing"
)

func TestReadTellsWhatItReads(t *testing.T) {
	const run = `{"v":1,"k":"run","run":"r","config":{"request_rate":"inf","burstiness":1}}` + "\n"
	for name, text := range map[string]string{
		"stream":                   run,
		"stream after other lines": "srun: hello\n" + run,
		"result":                   ` {"duration": 1.0, "completed": 0, "total_input_tokens": 0}`,
		"block":                    "prose\n=== Serving Benchmark Result ===\nSuccessful requests: 0\n",
	} {
		sums, err := Read(strings.NewReader(text), Ask{})
		if err != nil || len(sums) != 1 || sums[0].Completed != 0 {
			t.Errorf("%s: %d runs, %v", name, len(sums), err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "prose": "Successful: 5\n", "another object": `{"a": 1}`, "unknown kinds only": `{"v":1,"k":"weather","run":"r"}`,
	} {
		if _, err := Read(strings.NewReader(text), Ask{}); !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
