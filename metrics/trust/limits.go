package trust

import "time"

// The limits of the checks. Each is set so that an ordinary run on a busy laptop
// keeps to it and the fault that it is for does not.
const (
	// Lag moves a request away from its due time, and the load away from what
	// was asked for. Up to 5 ms is what a busy scheduler does, and little of a
	// TTFT of 50 ms.
	lagLimit       = 5.0  // ms, p99
	lagLimitOfTTFT = 0.10 // of the mean, if that is more

	// While bytes lie unread, the next event can join them and take its stamp.
	// Up to half an ITL that is rare. A millisecond is what a context switch
	// can take.
	ageLimitOfITL = 0.5 // of the mean
	ageLimit      = 1.0 // ms, p99, if that is more
	// Where the kernel does not stamp, how late the process is to wake up tells
	// how late it reads. Go's timers alone are up to a millisecond late.
	wakeLimit = 2.0 // ms, p99, if that is more than half an ITL

	// What came before an earlier packet is stamped, and cannot be read.
	disorderLimit = 0.5 // packets, in % of the chunks

	// Events that share a read share a stamp: their ITL is 0, and the one before
	// takes it all. Servers also send several events at once, which is no fault
	// of ours, so this is judged only where the client was late, too: as large a
	// part of its reads as of the chunks that shared one, up to 90 %.
	sharedLimit    = 1.0 // % of the chunks
	lateLimitOfITL = 0.1 // of the mean
	lateLimit      = 1.0 // ms, if that is more
	// Stops make that many times as many events share a read as come in their
	// share of the time, and no more: load comes in bursts, and the process is
	// watched before and after it, too.
	stopsPile = 20.0

	// A stop for longer than an ITL makes the events of all streams wait for
	// each other. Below 100 ms the kernel's stamps carry a run over it.
	stopLimit = 100.0 // ms, longest, or the mean ITL if that is more
	// Without those stamps a stop is inside the ITL of every stream.
	stopLimitUnstamped = 25.0 // ms, likewise
	// Together stops of one tick in fifty spoil the 99th percentile; 100 ms
	// in all are forgiven, lest two hiccups accuse a short run.
	stopShareLimit = 2.0 // % of the time
	stopForgiven   = 100 * time.Millisecond

	// A process that is out of CPU reads late and sends late.
	busiestLimit = 90.0 // % of its cores, in its busiest second
	meanCPULimit = 75.0 // % of its cores
	// Starting a run takes CPU, too, which is all that a shorter one shows.
	busiestFrom = time.Second
	meanCPUFrom = 250 * time.Millisecond
	// What a hypervisor keeps back is lost for the server, too, if that runs here.
	stolenLimit = 10.0 // % of the machine's CPU time

	// Others that take less, of a machine without an idle core, leave most of it to us.
	othersLimit = 0.25 // of the machine's cores, in a second

	// Pauses are tens of microseconds unless the process is in trouble.
	gcLimit      = 10.0 // ms, longest
	gcShareLimit = 1.0  // % of the time, or as much as the longest may take

	// Ages are differences between the wall clock and the kernel's stamps.
	clockLimit = 10.0 // ms, either way

	// A request that holds its slot after its last chunk keeps the next from
	// starting, and that time is in no latency.
	heldLimit   = 5.0 // % of E2EL
	heldLimitMS = 2.0 // ms, mean, if that is more

	// Time to connect is the network's and not the server's. On one machine or
	// in one rack half a millisecond is usual, and steady traffic does without.
	connectLimit   = 5.0 // % of the TTFTs' sum
	connectLimitMS = 0.5 // ms a request, if that is more

	// Of gaps that tokens' steps make, half are not far below the mean. Where
	// they are, somebody keeps events back and lets them go together. Fewer than
	// a hundred gaps, or shorter ones than a timer's tick, say nothing.
	lumpyLimit  = 10.0 // %: median ITL of the mean
	lumpyGaps   = 100
	lumpyMeanMS = 1.0 // ms

	// A workload without shared prefixes finds next to nothing in a cache. The
	// request of the rehearsal is found again, and a chat template's beginning.
	prefixLimit = 5.0 // % of the prompt tokens, and one request
	// All prompts begin with the same token or so, which SGLang and llama.cpp find again.
	prefixForgiven = 4 // tokens a request, if that is more
	// What is more than this is warned of.
	prefixWarned = 1.0 // % of the prompt tokens
	// A few prompts of a real dataset are alike; a dataset that is too short for
	// the run is sent again and again.
	repeatedLimit = 0.01 // of the requests

	// Those that fail are seldom those that would have been quick, and what is
	// left had a server with less to do.
	failedLimit = 5.0 // % of the requests that were not cut short
	// Cut short are those that take long. Of a run that was stopped with more in
	// flight than done, only the quick ones are left.
	cutLimit = 50.0 // % of the requests that did not fail

	// A shard that begins later than the others leaves them alone at first and is
	// alone in the end. Clocks of one site agree to a few milliseconds, and 100 ms
	// is little beside the ramps that servers have themselves.
	startsLimit      = 100.0 // ms between the first and the last
	startsLimitOfRun = 1.0   // % of the run, if that is more

	// A few answers come whole, as out of a gateway's cache.
	streamingLimit = 5.0 // % of the answers of five tokens or more

	// An early chunk that carries nothing is no token. One that came as a step later
	// than another may stand for a token without a text.
	earlyLimit      = 10.0 // % of the TTFT to the first content
	earlyLimitOfITL = 2.0  // of the median, if that is more
	earlyLimitMS    = 1.0  // ms, likewise

	// Each of these answers counts as a single token.
	countsLimit = 1.0 // % of the answers

	// Under ignore_eos answers have the tokens asked for, all of them. Where some
	// do not, requests hold their slots for another time than was meant, and
	// tokens a second are of another load.
	lengthsLimit = 1.0 // % of the answers whose tokens the server counted

	exhaustedLimit = 0 // connections
	completedLimit = 1 // requests
)
