//go:build unix

package host

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/gpu"
)

// What the driver does not know is a note, and the run goes on without it.
func TestReasonsHaveTheDriversName(t *testing.T) {
	const all = "0, 1024, 81559, 35, 120.50"
	for _, row := range []struct{ script, name, note string }{
		{`echo 0x0000000000000004`, "clocks_event_reasons.active", ""},
		{
			`case "$1" in *event*) echo "Field \"clocks_event_reasons.active\" is not a valid field to query."; exit 2 ;; esac; echo 0x0000000000000000`,
			"clocks_throttle_reasons.active", "nvidia-smi does not know clocks_event_reasons.active: clocks_throttle_reasons.active has the same",
		},
		{`echo "[N/A]"`, "", `nvidia-smi does not say what slows the GPU down: its clocks_event_reasons.active is "[N/A]"`},
		{`echo "[Not Supported]"; exit 0`, "", `is "[Not Supported]"`},
		{`echo "` + all + `"`, "", `is "` + all + `"`},
		{`echo no driver >&2; exit 9`, "", `is "no driver"`},
	} {
		smi, note := playSMI(t, row.script).WithReasons(t.Context())
		if smi.Reasons != row.name || !strings.Contains(note, row.note) || (note == "") != (row.note == "") {
			t.Errorf("%s: %q, %q; want %q, %q", row.script, smi.Reasons, note, row.name, row.note)
		}
	}
}

func TestSamplesHaveReasons(t *testing.T) {
	smi := playSMI(t, `
case "$1" in *power.draw*,clocks_event_reasons.active) ;; *) exit 3 ;; esac
echo "0, 1024, 81559, 35, 120.50, 0x0000000000000024"
echo "1, 1024, 81559, 35, 120.50, [N/A]"
`)
	smi.Reasons = reasonNames[0]
	got, err := smi.GPUs(t.Context())
	if err != nil || len(got) != 2 || got[0].Reasons == nil || *got[0].Reasons != gpu.Reasons(0x24) || got[1].Reasons != nil {
		t.Errorf("%+v, %v", got, err)
	}
}
