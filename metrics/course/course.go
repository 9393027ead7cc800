// Package course says how the latencies of a run went in the order in which its requests were sent: whether they
// changed, and whether there are two kinds of answers.
package course

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/numpy"
	"github.com/servebench/servebench/metrics/tally"
)

// A Course says how the latencies of a run went, in the order in which its requests were sent. Its zero value
// is of a steady run.
type Course struct {
	// Of are the completed requests that were judged. In a closed loop these are not the first ones, which
	// start at once, and not the last ones, next to which fewer others run.
	Of int

	// Change is the moment at which latencies changed most; nil if they did not.
	Change *Change
	// Modes are the two kinds of answers of a run that has two; nil of others.
	Modes *Modes

	// Quick are answers that came whole in less than a quarter of the median TTFT, and Quickest is the
	// median of their E2EL.
	Quick    int
	Quickest time.Duration
}

// A Change divides a run into two parts.
type Change struct {
	// At is when the first request of the second part was sent, on the clock of the Records. Requests are the
	// completed ones that were sent before.
	At            time.Duration
	Requests      int
	Before, After Stretch
}

// A Stretch has the numbers of a part of the judged requests.
type Stretch struct {
	TTFT, TPOT float64 // mean, milliseconds; TPOT is per chunk after the first, 0 without one
	Rate       float64 // requests sent a second
}

// Modes are two kinds of answers, of which the slow ones take a multiple of the time per chunk.
type Modes struct {
	Share      float64 // of the slow ones among the judged answers, 0 to 1
	Fast, Slow float64 // geometric mean of the milliseconds a chunk
}

// How the course of a run is judged.
const (
	pieces = 20 // in which the judged requests are compared, in the order of sending
	least  = 40 // requests, for fewer say nothing

	// Servers differ by a tenth from minute to minute. A quarter is more than users accept between two runs.
	changeTimes = 1.25
	// Of steady runs under load, whose parts depend on each other, hardly one has a split beyond this. It is the
	// difference of the parts' means, in standard errors of it within the two sides.
	changeErrors = 7.0
	changeEdge   = 2 // parts on either side of a change, at least

	modeTimes = 1.5  // one mode of the other
	modeShare = 0.1  // of the answers in either
	modeParts = 0.9  // of the variance between the modes: an even distribution has 0.75, a normal one 0.64
	quickOf   = 0.25 // of the median TTFT
)

// Of judges answers of a run with an even load. Of those that were sent first it leaves out skipped, and as many of
// those that were sent last. It does not change the slice.
func Of(answers []tally.Answer, skipped int) *Course {
	course := new(Course)
	sent := slices.Clone(answers)
	slices.SortStableFunc(sent, func(a, b tally.Answer) int { return cmp.Compare(a.Start, b.Start) })
	skipped = min(skipped, len(sent))
	sent = sent[skipped:max(len(sent)-skipped, skipped)]
	if course.Of = len(sent); course.Of < least {
		return course
	}
	course.quick(sent)
	if course.Change = changeOf(sent); course.Change == nil {
		course.Modes = modesOf(sent)
	} else {
		course.Change.Requests += skipped
	}
	return course
}

// quick finds answers that were complete before others began.
func (c *Course) quick(sent []tally.Answer) {
	var firsts, whole []float64
	for _, a := range sent {
		firsts = append(firsts, a.TTFT)
	}
	edge := quickOf * median(firsts)
	for _, a := range sent {
		if a.Latency < edge {
			whole = append(whole, a.Latency)
		}
	}
	if c.Quick = len(whole); c.Quick > 0 {
		c.Quickest = seconds(median(whole))
	}
}

// logs are the logarithms of a latency of answers that have it.
func logs(answers []tally.Answer, of func(*tally.Answer) float64) []float64 {
	var all []float64
	for i := range answers {
		if v := of(&answers[i]); v > 0 {
			all = append(all, math.Log(v))
		}
	}
	return all
}

// changeOf finds the split of the answers whose sides differ most in TTFT or in the time per chunk.
func changeOf(sent []tally.Answer) *Change {
	at, most := 0, changeErrors
	ttft := func(a *tally.Answer) float64 { return a.TTFT }
	for _, of := range []func(*tally.Answer) float64{ttft, (*tally.Answer).Pace} {
		var parts []float64
		for i := range pieces {
			part := logs(sent[i*len(sent)/pieces:(i+1)*len(sent)/pieces], of)
			if len(part) == 0 {
				parts = nil
				break
			}
			parts = append(parts, numpy.Mean(part))
		}
		if split, errors := splitOf(parts); errors > most {
			at, most = split, errors
		}
	}
	if at == 0 {
		return nil
	}
	n := at * len(sent) / pieces
	return &Change{
		At: seconds(sent[n].Start), Requests: n,
		Before: stretchOf(sent[:n], sent[n].Start), After: stretchOf(sent[n:], sent[len(sent)-1].Start),
	}
}

// splitOf is the split of the parts, which are logarithms, whose sides differ most, in standard errors; 0 if no
// sides differ by changeTimes.
func splitOf(parts []float64) (at int, errors float64) {
	for k := changeEdge; k <= len(parts)-changeEdge; k++ {
		before, after := parts[:k], parts[k:]
		apart := math.Abs(numpy.Mean(before) - numpy.Mean(after))
		if apart < math.Log(changeTimes) {
			continue
		}
		within := (spreadAround(before) + spreadAround(after)) / float64(len(parts)-2)
		const digits = 0.01 // parts that are equal to a hundredth are equal
		se := math.Sqrt(max(within, digits*digits) * (1/float64(len(before)) + 1/float64(len(after))))
		if apart/se > errors {
			at, errors = k, apart/se
		}
	}
	return at, errors
}

// spreadAround is the sum of the squared distances from the mean.
func spreadAround(values []float64) (sum float64) {
	mean := numpy.Mean(values)
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return sum
}

// stretchOf has the numbers of answers that were sent one after the other until that time, in seconds.
func stretchOf(sent []tally.Answer, until float64) (s Stretch) {
	chunks, n := 0.0, 0
	for i := range sent {
		s.TTFT += sent[i].TTFT * 1000 / float64(len(sent))
		if sent[i].Gaps > 0 {
			chunks += sent[i].Pace() * 1000
			n++
		}
	}
	if n > 0 {
		s.TPOT = chunks / float64(n)
	}
	if took := until - sent[0].Start; took > 0 {
		s.Rate = float64(len(sent)) / took
	}
	return s
}

// modesOf finds two kinds of answers by their time per chunk: the split of the sorted logarithms that leaves
// least variance within its sides. Otsu, A threshold selection method from gray-level histograms, IEEE Trans. SMC
// 9(1), 1979.
func modesOf(sent []tally.Answer) *Modes {
	all := logs(sent, (*tally.Answer).Pace)
	slices.Sort(all)
	n := len(all)
	whole := spreadAround(all)
	if n < least || whole == 0 {
		return nil
	}
	total, below := 0.0, 0.0
	for _, v := range all {
		total += v
	}
	at, between := 0, 0.0
	for k := 1; k < n; k++ {
		below += all[k-1]
		apart := below/float64(k) - (total-below)/float64(n-k)
		if b := apart * apart * float64(k) * float64(n-k) / float64(n); b > between {
			at, between = k, b
		}
	}
	share := float64(n-at) / float64(n)
	fast, slow := math.Exp(numpy.Mean(all[:at])), math.Exp(numpy.Mean(all[at:]))
	if between < modeParts*whole || min(share, 1-share) < modeShare || slow < modeTimes*fast {
		return nil
	}
	return &Modes{Share: share, Fast: fast * 1000, Slow: slow * 1000}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return numpy.Percentile(values, 50)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
