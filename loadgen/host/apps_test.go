//go:build unix

package host

import (
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
	w := StartAppWatch(smi, time.Now(), time.Second, func(pid int) gpu.Owner {
		if asked = append(asked, pid); len(asked) == 3 {
			close(third)
		}
		return map[int]gpu.Owner{7: gpu.Server}[pid]
	})
	<-third
	apps, notes := w.Stop(nil)
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
		w := StartAppWatch(playSMI(t, script), time.Now(), time.Second, func(int) gpu.Owner { return gpu.Foreign })
		<-w.done
		want := []string{"as before", "not all processes on the GPUs may have been seen: " + want}
		if _, notes := w.Stop(want[:1:1]); !slices.Equal(notes, want) {
			t.Errorf("%s: %q, want %q", script, notes, want)
		}
	}
}
