package loadgen

import (
	"sync"
)

// An intake does what is left to do with a record once that is in its file: another
// one that has ended meanwhile is written all the same while a Collector makes room
// for millions more, which can take it a tenth of a second. What is given to it is
// done in order, by one goroutine.
type intake struct {
	waiting chan func()
	work    sync.WaitGroup
}

// intakeAhead is how much may wait.
const intakeAhead = 4096

func newIntake() *intake {
	in := &intake{waiting: make(chan func(), intakeAhead)}
	in.work.Go(func() {
		for do := range in.waiting {
			do()
		}
	})
	return in
}

func (in *intake) do(f func()) { in.waiting <- f }

// close waits until all is done.
func (in *intake) close() {
	close(in.waiting)
	in.work.Wait()
}
