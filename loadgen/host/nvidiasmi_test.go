//go:build unix

package host

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/samples"
)

// playSMI is a shell script that plays nvidia-smi.
func playSMI(t *testing.T, script string) NvidiaSMI {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nvidia-smi")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return NvidiaSMI{Path: path}
}

func TestGPUsAreAsNvidiaSMIHasThem(t *testing.T) {
	got, err := playSMI(t, `
test "$*" = "--query-gpu=index,memory.used,memory.total,utilization.gpu,power.draw --format=csv,noheader,nounits" || exit 3
echo "0, 1024, 81559, 35, 120.50"
echo "1, 10, 81559, [N/A], [Not Supported]"
echo "2, [Insufficient Permissions], 0, , [Unknown Error]"
echo "3, N/A, -1, nan, inf"
`).GPUs(t.Context())
	want := []samples.GPU{
		{Index: 0, MemoryUsed: new(1024.0), MemoryTotal: new(81559.0), Utilization: new(0.35), Power: new(120.5)},
		{Index: 1, MemoryUsed: new(10.0), MemoryTotal: new(81559.0)},
		{Index: 2}, {Index: 3},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func TestNvidiaSMIIsAskedForSomeGPUs(t *testing.T) {
	smi := playSMI(t, `test "${*##* }" = --id=0,2 && echo "0, 1, 2, 3, 4"; echo "2, 1, 2, 3, 4"`)
	smi.Only = "0,2"
	if got, err := smi.GPUs(t.Context()); err != nil || len(got) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNvidiaSMIIsAskedForThePowerOfTheMoment(t *testing.T) {
	smi := playSMI(t, `
test "$*" = "--query-gpu=index,memory.used,memory.total,utilization.gpu,power.draw.instant --format=csv,noheader,nounits" || exit 3
echo "0, 1024, 81559, 35, 650.50"
`)
	smi.Instant = true
	if got, err := smi.GPUs(t.Context()); err != nil || len(got) != 1 || *got[0].Power != 650.5 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBrokenNvidiaSMISaysWhy(t *testing.T) {
	for script, want := range map[string]string{
		"echo NVIDIA-SMI has failed; echo no driver >&2; exit 9": "nvidia-smi: exit status 9: NVIDIA-SMI has failed no driver",
		"printf 'No devices were found'":                         "nvidia-smi knows no GPU: No devices were found",
		"":                                                       "nvidia-smi knows no GPU",
	} {
		if _, err := playSMI(t, script).GPUs(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
}

func TestOneNvidiaSMITellsAgainAndAgain(t *testing.T) {
	n := playSMI(t, `
case "$*" in *" -lms 1000") ;; *) exit 3 ;; esac
echo "0, 1, 2, 3, 4"
echo "1, 1, 2, 3, 4"
echo "0, 2, 2, 3, 4"
echo "0, 3, 2, 3, 4"
echo "1, 3, 2, 3, 4"
echo "0, 4, 2, 3, 4"
exec sleep 600
`)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var used []float64
	var last time.Duration
	n.Sample(2, time.Second)(ctx, time.Now(), func(s *samples.Sample) {
		if s.Error != "" || len(s.GPUs) != 2 || s.GPUs[0].Index != 0 || s.GPUs[1].Index != 1 || s.At < last {
			t.Errorf("sample %+v", s)
			stop()
			return
		}
		last = s.At
		if used = append(used, *s.GPUs[0].MemoryUsed); len(used) == 2 {
			stop()
		}
	})
	if want := []float64{1, 3}; !reflect.DeepEqual(used, want) {
		t.Errorf("rounds of %v MiB, want %v", used, want)
	}
}

func TestEndOfNvidiaSMIIsAFailedSample(t *testing.T) {
	for script, want := range map[string]string{
		"echo 0, 1, 2, 3, 4; echo Unable to determine the device handle; exit 15": "nvidia-smi: exit status 15: Unable to determine the device handle",
		"echo 0, 1, 2, 3, 4": "nvidia-smi ended",
	} {
		var got []*samples.Sample
		playSMI(t, script).Sample(1, time.Second)(t.Context(), time.Now(), func(s *samples.Sample) { got = append(got, s) })
		if len(got) != 2 || len(got[0].GPUs) != 1 || got[1].Error != want {
			t.Errorf("%d samples, want the last to be %q: %+v", len(got), want, got)
		}
	}
}

func FuzzNvidiaSMI(f *testing.F) {
	f.Add("0, 1024, 81559, 35, 120.50\n1, [N/A], NaN, inf, -1\n", 7)
	f.Add("NVIDIA-SMI has failed\n"+strings.Repeat("x", maxSMILine)+"\n", 1)
	f.Fuzz(func(t *testing.T, text string, at int) {
		whole, parts := "", ""
		note := func(to *string) func(samples.GPU) {
			return func(g samples.GPU) {
				for _, v := range []*float64{g.MemoryUsed, g.MemoryTotal, g.Utilization, g.Power} {
					if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
						t.Fatalf("%q has the value %v", text, *v)
					}
				}
				*to += fmt.Sprintln(g.Index)
			}
		}
		one, two := smiLines{found: note(&whole)}, smiLines{found: note(&parts)}
		one.Write([]byte(text))
		at = min(max(at, 0), len(text))
		two.Write([]byte(text[:at]))
		two.Write([]byte(text[at:]))
		if whole != parts || one.said() != two.said() || len(one.said()) > 2+300+maxSMILine {
			t.Fatalf("%q in one piece has GPUs %q, in two %q", text, whole, parts)
		}
	})
}
