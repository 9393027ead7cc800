//go:build unix

package host

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/gpu"
)

// The process that runs at an interval sees 7 and 8, and the look at the end sees 9 and 7 again.
func TestProcessesAreSeenDuringTheLoadAndAfterIt(t *testing.T) {
	smi := playSMI(t, `
case "$*" in
"--query-compute-apps=gpu_uuid,pid,used_gpu_memory --format=csv,noheader,nounits -lms 1000")
	echo "GPU-a, 7, 100"
	echo "GPU-a, 8, [N/A]"
	echo "GPU-a, 7, 300"
	echo "GPU-b, 7, [Not Supported]"
	echo "No running processes found"
	exec sleep 600 ;;
"--query-compute-apps=gpu_uuid,pid,used_gpu_memory --format=csv,noheader,nounits")
	echo "GPU-a, 7, 200"
	echo "GPU-a, 9, 1" ;;
*) exit 3 ;;
esac
`)
	var asked []int
	third := make(chan struct{})
	w := AppWatch{SMI: smi, Owner: func(pid int) gpu.Owner {
		if asked = append(asked, pid); len(asked) == 3 {
			close(third)
		}
		return map[int]gpu.Owner{7: gpu.Server}[pid]
	}}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-third
		stop()
	}()
	w.Sample(time.Second)(ctx, time.Now(), nil)
	apps, notes := w.Seen(nil)
	var got []string
	for _, p := range apps {
		memory := "unknown"
		if p.Memory != nil {
			memory = time.Duration(*p.Memory).String()
		}
		if p.Last < p.First || p.First < 0 {
			t.Errorf("%+v", p)
		}
		got = append(got, strings.Join([]string{p.GPU, string(p.Owner), memory}, " "))
	}
	want := []string{"GPU-a server 300ns", "GPU-a  unknown", "GPU-b server unknown", "GPU-a  1ns"}
	if !slices.Equal(got, want) || notes != nil || !slices.Equal(asked, []int{7, 8, 7, 9}) {
		t.Errorf("%q, notes %q, owners of %v; want %q", got, notes, asked, want)
	}
}

func TestProcessesThatCannotBeSeenAreANote(t *testing.T) {
	for script, want := range map[string]string{
		"echo Insufficient Permissions; exit 4":                 "nvidia-smi: exit status 4: Insufficient Permissions",
		`case "$*" in *-lms*) exit 0 ;; esac; echo GPU-a, 7, 1`: "nvidia-smi ended",
	} {
		w := AppWatch{SMI: playSMI(t, script), Owner: func(int) gpu.Owner { return gpu.Foreign }}
		w.during(t.Context(), time.Second)
		w.after(t.Context())
		want := []string{"as before", "not all processes on the GPUs may have been seen: " + want}
		if _, notes := w.Seen(want[:1:1]); !slices.Equal(notes, want) {
			t.Errorf("%s: %q, want %q", script, notes, want)
		}
	}
}

// The sampler looks once more after its end.
func TestProcessesThatComeLastAreSeen(t *testing.T) {
	w := AppWatch{SMI: playSMI(t, `case "$*" in *-lms*) exit 0 ;; esac; echo GPU-a, 7, 1`),
		Owner: func(int) gpu.Owner { return gpu.Foreign }}
	ended, end := context.WithCancel(t.Context())
	end()
	w.Sample(time.Second)(ended, time.Now(), nil)
	if apps, notes := w.Seen(nil); len(apps) != 1 || apps[0].PID != 7 || notes != nil {
		t.Errorf("%+v, notes %q", apps, notes)
	}
}
