package wire

import (
	"syscall"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
)

func TestResetForgetsAllButWarmedConnections(t *testing.T) {
	tally := new(Tally)
	tally.open()
	tally.warm()
	tally.refused(syscall.EMFILE)
	tally.Chunk(Arrival{kernel: true, Age: time.Second}, true)
	tally.Chunk(Arrival{}, false)
	tally.protocol.Store(new(string))
	tally.closed.Add(1)
	if e := evidence(tally); e.KernelStamps != 1 || e.UserStamps != 1 || e.SharedReads != 1 || e.Opened != 1 {
		t.Errorf("%+v", e)
	}
	tally.Reset()
	if e := evidence(tally); e != (metrics.Evidence{Warmed: 1}) || tally.Ages().TotalCount() != 0 {
		t.Errorf("after the reset %+v and %d ages", e, tally.Ages().TotalCount())
	}
}

func TestNoTallyCountsNothing(t *testing.T) {
	var tally *Tally
	tally.Reset()
	tally.refused(syscall.EMFILE)
	if e := evidence(tally); e != (metrics.Evidence{}) || tally.Ages().TotalCount() != 0 {
		t.Errorf("%+v", e)
	}
}
