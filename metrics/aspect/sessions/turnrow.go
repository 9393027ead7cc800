package sessions

import (
	"fmt"
	"math/bits"
	"strconv"
	"time"

	"github.com/servebench/servebench/metrics"
)

// A TurnRow has the figures of the measured turns with some numbers. Its latencies are of completed
// turns.
type TurnRow struct {
	Sent      int
	Completed int
	Prompt    int // prompt tokens of the completed turns
	Cache     CacheUse

	TTFT          metrics.Distribution
	TPOT          metrics.Distribution
	ITL           metrics.Distribution // it only has a histogram
	E2EL          metrics.Distribution
	ScheduledE2EL metrics.Distribution // from Due to the last chunk
}

// emptyRow is a row before its first turn.
func emptyRow() TurnRow {
	return TurnRow{
		TTFT: metrics.PerRequest(), TPOT: metrics.PerRequest(), E2EL: metrics.PerRequest(),
		ScheduledE2EL: metrics.PerRequest(),
	}
}

// rowOf is the row of the turn at that position in its session, from 0.
func rowOf(turn int) int { return bits.Len(uint(max(turn, 0))) }

// RowTurns are the numbers, from 1, of the first and the last turn of row i.
func RowTurns(i int) (from, to int) {
	if i == 0 {
		return 1, 1
	}
	return 1<<(i-1) + 1, 1 << i
}

// TurnNumbers are the numbers of the turns in row i, as "3–4".
func TurnNumbers(i int) string {
	from, to := RowTurns(i)
	if from == to {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d–%d", from, to)
}

// MeanPrompt is the mean number of prompt tokens of a completed turn; 0 if there is none.
func (r *TurnRow) MeanPrompt() float64 { return float64(r.Prompt) / float64(max(r.Completed, 1)) }

// latencies are the Distributions of the row by their names.
func (r *TurnRow) latencies() map[string]*metrics.Distribution {
	return map[string]*metrics.Distribution{"ttft": &r.TTFT, "tpot": &r.TPOT, "itl": &r.ITL, "e2el": &r.E2EL,
		"scheduled_e2el": &r.ScheduledE2EL}
}

// merge adds the counts of another.
func (r *TurnRow) merge(other *TurnRow) {
	r.Sent += other.Sent
	r.Completed += other.Completed
	r.Prompt += other.Prompt
	r.Cache = r.Cache.plus(other.Cache)
}

// LaterTurns are the measured turns that waited for other turns, and what shows whether they were
// sent as they should be.
type LaterTurns struct {
	Turns int
	Late  int                  // with a lag above LateTurn
	Lag   metrics.Distribution // of all of them

	// Gaps are the turns with a gap, and Vanished those that were due at once after all, because the
	// answer came later than the recording had the turn sent.
	Gaps     int
	Vanished int
	// Disordered were sent before what they waited for had ended. There must be none.
	Disordered int

	// Drift is Due less At: how far behind its recording a turn was due. A turn that was early has a
	// negative value.
	Drift metrics.Distribution
	// OutDrift is how far the number of output tokens is from the requested number, and InDrift how
	// far the server's number of prompt tokens is from the dataset's. Their statistics are percentages
	// of the requested number, not milliseconds. Both have the completed turns of which both numbers
	// are known.
	OutDrift, InDrift metrics.Distribution
}

// LateTurn is the lag from which on a later turn counts as late.
const LateTurn = time.Millisecond
