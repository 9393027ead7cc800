package metrics

import "time"

// Truth is what the definitions of a Summary's own numbers leave out. Latencies
// are of completed requests. A number that is not known is 0, and its
// Distribution empty.
type Truth struct {
	Tokens  ChunkTokens  // how tokens came in chunks
	Counts  Counts       // who counted them
	ITL     Distribution // per token: the gap before a chunk of n tokens is n values of gap/n. A histogram alone; of the requests that Tokens knows, and empty where it Bundles
	MeanITL float64      // per token in milliseconds; where ITL is empty, from the counts of tokens alone

	ContentTTFT   Distribution // from Sent to the first chunk with content
	ContentTPOT   Distribution // after that chunk: (E2EL − ContentTTFT) / (Out − 1)
	WrittenTTFT   Distribution // from the request written to the first chunk: without connecting
	ScheduledTTFT Distribution // from Due to the first chunk: queue and lag are inside
	ScheduledE2EL Distribution // from Due to the last chunk
	Connecting    Connecting
	Delivery      Delivery // how the answers came

	PeakTokens      int           // most output tokens of completed requests in any one second
	PeakStep        time.Duration // at whose multiples those seconds begin: 10 ms in the first 11 h of a run
	PeakConcurrency int           // most measured requests in flight at one instant, from Sent to End
	MeanConcurrency float64       // of them in flight, over the run's duration

	Ramp Ramp // how the load began, where all requests are due at once
	Pace Pace // achieved against asked, where requests are due one after the other
	Held Held // slots held after the last chunk

	Backlog Backlog // whether the server kept up, where requests are due at an even rate

	Lengths       Lengths        // of answers, against those asked for
	FinishReasons map[string]int // requests that got a finish reason, by it; past 20 different ones under "(others)"

	Otherwise Otherwise // measured answers of which vLLM's client makes something else

	laterTurns bool // conversations went on after their first turn
}

// merge adds what was counted of other requests, but for the Ramp.
func (t *Truth) merge(other *Truth) {
	t.Tokens = t.Tokens.plus(other.Tokens)
	t.Counts = t.Counts.plus(other.Counts)
	t.Delivery = t.Delivery.plus(other.Delivery)
	t.ITL.merge(&other.ITL)
	t.ContentTTFT.merge(&other.ContentTTFT)
	t.ContentTPOT.merge(&other.ContentTPOT)
	t.WrittenTTFT.merge(&other.WrittenTTFT)
	t.ScheduledTTFT.merge(&other.ScheduledTTFT)
	t.ScheduledE2EL.merge(&other.ScheduledE2EL)
	t.Connecting = t.Connecting.plus(other.Connecting)
	t.Pace.Requests += other.Pace.Requests
	t.Pace.Queue += other.Pace.Queue
	t.Pace.Lag += other.Pace.Lag
	t.Lengths.merge(&other.Lengths)
	countReasons(&t.FinishReasons, other.FinishReasons)
	countReasons((*map[string]int)(&t.Otherwise), other.Otherwise)
	t.laterTurns = t.laterTurns || other.laterTurns
}

// Connecting says how many completed requests opened a connection within their
// TTFT, and how long the parts of that took.
type Connecting struct {
	Requests int           `json:"requests"` // that did
	Of       int           `json:"of"`       // all completed
	DNS      time.Duration `json:"dns,omitempty"`
	Connect  time.Duration `json:"connect,omitempty"`
	Proxy    time.Duration `json:"proxy,omitempty"`
	TLS      time.Duration `json:"tls,omitempty"`
}

func (c Connecting) plus(other Connecting) Connecting {
	return Connecting{
		Requests: c.Requests + other.Requests, Of: c.Of + other.Of,
		DNS: c.DNS + other.DNS, Connect: c.Connect + other.Connect, Proxy: c.Proxy + other.Proxy, TLS: c.TLS + other.TLS,
	}
}

// Mean is the time that a request spent connecting, of those that did.
func (c Connecting) Mean() time.Duration { return share(c.DNS+c.Connect+c.Proxy+c.TLS, c.Requests) }

// Ramp is the burst that opens a run whose requests are all due at once.
type Ramp struct {
	Requests int           `json:"requests"`       // that waited for no slot
	Took     time.Duration `json:"took,omitempty"` // until the last of them was sent
}

// Held is how long completed requests held their slot after their last chunk:
// what Little's law leaves between the requests in flight by our count, the sum
// of End − Sent, and throughput × mean E2EL.
type Held struct {
	Mean   time.Duration // a request
	Share  float64       // of E2EL
	Unread time.Duration // of Mean, what the last chunk may have lain unread: up to that it may be our own lateness
}

// Pace compares the time over which requests were sent with that over which they
// were due.
type Pace struct {
	Requests int           `json:"requests"`
	Due      time.Duration `json:"due,omitempty"`   // from the first to the last
	Sent     time.Duration `json:"sent,omitempty"`  // likewise
	Queue    time.Duration `json:"queue,omitempty"` // of all of them together: what delayed them
	Lag      time.Duration `json:"lag,omitempty"`   // likewise
}

// Asked is the rate that was asked for in requests a second, 0 when there is none.
func (p Pace) Asked() float64 { return perSecond(p.Requests-1, p.Due) }

// Achieved is the rate that came about in requests a second, 0 when there is none.
func (p Pace) Achieved() float64 { return perSecond(p.Requests-1, p.Sent) }

func perSecond(n int, d time.Duration) float64 {
	if n <= 0 || d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// share is a n-th part of d, 0 for none.
func share(d time.Duration, n int) time.Duration {
	if n <= 0 {
		return 0
	}
	return d / time.Duration(n)
}
