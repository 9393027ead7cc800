// Package truth is a server that answers by a script and notes what really happened, for programs that compare what
// clients say with it.
package truth

import "time"

// A Script says when the server writes the chunks of an answer. The client's request says how many
// there are.
type Script struct {
	First    time.Duration // from the arrival of a request to its first chunk; 0 answers at once
	ITL      time.Duration // from one chunk to the next
	Tail     time.Duration // from the last chunk to what ends the answer; 0 for one write
	LockStep bool          // all streams get their chunks at the same moments, every ITL
	Gap      time.Duration // between the times at which requests are due, for their lag
	Answers  bool          // the truth has each answer's gaps
	Chunks   int           // at most so many an answer, whatever is asked for; 0 for no limit
	Keep     string        // the file to keep the requests in; empty to keep none
}

// moment is when a chunk is due that may come from t on.
func (s *Script) moment(t time.Duration) time.Duration {
	if s.LockStep {
		return (t + s.ITL - 1) / s.ITL * s.ITL
	}
	return t
}

// wait is the least time from a chunk to the next.
func (s *Script) wait() time.Duration {
	if s.LockStep {
		return 1 // the next step
	}
	return s.ITL
}
