package workload

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/settings"
)

func TestPromptsHaveToFitIntoMemory(t *testing.T) {
	const mib = 1 << 20
	for _, row := range []struct {
		dataset string
		prompts int
		free    int64
		multi   bool
		fits    bool
	}{
		{"sharegpt", 60_000_000, 200 * mib, false, false},
		{"sharegpt", 60_000_000, 500 * mib, false, false}, // 458 MiB, and the rest of the run
		{"sharegpt", 60_000_000, 600 * mib, false, true},
		{"sharegpt", 60_000_000, 1000 * mib, true, false}, // places of the parts of each conversation
		{"sharegpt", 1000, 1 * mib, false, true},
		{"custom", 60_000_000, 500 * mib, false, false},
		{"burstgpt", 60_000_000, 500 * mib, false, false},
		{"prefix_repetition", 60_000_000, 1000 * mib, false, false},
		{"random", 60_000_000, 1 * mib, false, true},
	} {
		p := &Spec{Workload: settings.Workload{Dataset: row.dataset, NumPrompts: row.prompts}}
		p.Workload.Settings.MultiTurn.On = row.multi
		err := p.checkMemory(host.Memory{Free: row.free, Limit: "memory.max (0.2 GiB)"}, true)
		if (err == nil) != row.fits || err != nil && !strings.Contains(err.Error(), "GiB are free under memory.max (0.2 GiB): lower it") {
			t.Errorf("%+v: %v", row, err)
		}
		if err := p.checkMemory(host.Memory{}, false); err != nil {
			t.Errorf("%+v: without a known limit: %v", row, err)
		}
	}
}
