package gpupower_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/sim/gpupower"
)

func TestEnergyIsIdleAndLoadedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := gpupower.New(100, 600)
		check := func(watts, millijoules string) {
			t.Helper()
			text := b.Exposition()
			if !strings.Contains(text, "\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\",modelName=\"simulated\"} "+watts+"\n") ||
				!strings.Contains(text, "\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\",modelName=\"simulated\"} "+millijoules+"\n") {
				t.Errorf("want %s W and %s mJ:\n%s", watts, millijoules, text)
			}
		}
		check("100", "0")
		time.Sleep(2 * time.Second)
		check("100", "200000")
		b.Work()
		time.Sleep(time.Second)
		b.Work() // a second server on the GPU
		time.Sleep(time.Second)
		check("600", "1400000")
		b.Rest()
		time.Sleep(time.Second)
		check("600", "2000000")
		b.Rest()
		time.Sleep(time.Second)
		check("100", "2100000")
	})
}

func TestPowerIsTwoNumbers(t *testing.T) {
	for _, text := range []string{"", "90", "90,", "650,90", "-1,5", "a,b", "1,nan", "1,inf", "1,2,3"} {
		if b, err := gpupower.Parse(text); err == nil {
			t.Errorf("%q is %v", text, b)
		}
	}
	var none *gpupower.Board
	none.Work()
	none.Rest()
	if text := none.Exposition(); text != "" {
		t.Errorf("no board reports %q", text)
	}
}

func Example() {
	b, err := gpupower.Parse("90,650")
	if err != nil {
		panic(err)
	}
	b.Work()
	fmt.Println(strings.Contains(b.Exposition(), "} 650\n"))
	// Output: true
}
