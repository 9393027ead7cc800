package metrics

// A Verdict says whether a run's numbers can be believed.
type Verdict string

const (
	Valid   Verdict = "VALID"
	Suspect Verdict = "SUSPECT"
)

// Trust is a Verdict and what it rests on.
type Trust struct {
	Verdict Verdict
	Checks  []Check  // those that the run gave something to judge by
	Notes   []string // what a reader should know and what accuses nobody
}

// A Check is one figure against its limit.
type Check struct {
	Name   string  // one word or two, the same in every run
	Figure float64 // NaN where it is a word
	Unit   string  // of Figure and Limit, as ms or %
	Limit  float64 // Figure is fine up to here
	OK     bool
	Text   string // the figure in words, for a line
}

// Judge fills s.Trust from the Truth, the Evidence and the Summary itself. It is
// nil for a Summary of a result file or a block: there is nothing to judge.
func (s *Summary) Judge() {
	if s.Truth == nil {
		return
	}
	s.Trust = &Trust{Verdict: Valid}
}
