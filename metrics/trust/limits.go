package trust

import "time"

// The limits of the checks. Each is such that an ordinary run on a busy laptop keeps it, and a run
// with the fault that it is for does not.
const (
	// Lag moves a request away from its due time, and the load away from the requested load. A busy
	// scheduler causes up to 5 ms, which is little of a TTFT of 50 ms.
	lagLimit       = 5.0  // ms, p99
	lagLimitOfTTFT = 0.10 // of the mean, if that is more

	// TTFT counts from when a request was about to be sent. So our own delay until it is written is
	// in the number, where lag only moves the load. A busy scheduler causes a millisecond or two at
	// the 99th percentile, and a tenth of that on average.
	delayLimit   = 5.0 // % of the TTFT's mean, and of its p99
	delayLimitMS = 1.0 // ms of the mean, if that is more
	delayP99MS   = 2.0 // ms of the p99, likewise

	// While bytes wait in the socket, the next event can join them and take its stamp. That is rare up to
	// an ITL, and what it does to a number is judged by the marked chunks. A context switch can take a
	// millisecond.
	ageLimitOfITL = 1.0 // of the mean
	ageLimit      = 1.0 // ms, p99, if that is more
	// If the kernel does not stamp, the delay of wake-ups shows how late the process reads, and all
	// latencies include it. On a quiet machine Go's timers are 0.8 ms late at the 99th percentile.
	wakeLimit        = 1.0  // ms, p99,
	wakeLimitOfPrint = 0.05 // of the least P99 of the block, if that is more

	// One chunk in a hundred without a stamp by the kernel can be a P99.
	userStampsLimit = 1.0 // % of the chunks

	// Data that came before an earlier packet is stamped, but cannot be read yet.
	disorderLimit = 0.5 // packets, in % of the chunks

	// Events that share a read share a stamp: their ITL is 0, and the first of them takes it all.
	// Servers also send several events at once, which is not our fault. So this is judged only if
	// the client was late, too: at least as large a part of its reads as of the chunks that shared
	// one, up to 90 %. If chunks are marked, it is known between what the numbers lie, and only that
	// counts: P99 of ITL, which takes all of it, and the others.
	sharedLimit    = 2.0  // % of the chunks
	lateLimitOfITL = 0.1  // of the mean; of P99
	lateLimitOf    = 0.05 // of any other number
	lateLimit      = 1.0  // ms, if that is more
	// Stops make at most that many times as many events share a read as come in their share of the
	// time: load comes in bursts, and the process is also watched before and after it.
	stopsPile = 20.0

	// Where the kernel stamps, a stop counts by what it did to sends and stamps, which other checks judge.
	// From here on there is a note.
	stopNoted = 25.0 // ms, longest
	// Without these stamps, every stream's ITL includes the stop.
	stopLimit = 25.0 // ms, longest, or the mean ITL if that is more
	// In total, stops for one tick in fifty spoil the 99th percentile. 100 ms in all are tolerated,
	// so that two hiccups do not make a short run SUSPECT.
	stopShareLimit = 2.0 // % of the time
	stopForgiven   = 100 * time.Millisecond

	// A process without CPU time left reads late and sends late.
	busiestLimit = 90.0 // % of its cores, in its busiest second
	meanCPULimit = 75.0 // % of its cores
	// Starting a run also takes CPU time, and a shorter run shows nothing else.
	busiestFrom = time.Second
	meanCPUFrom = 250 * time.Millisecond
	// CPU time that a hypervisor keeps is also missing for the server, if it runs here.
	stolenLimit = 10.0 // % of the machine's CPU time

	// If other processes use less than this, on a machine without an idle core, most of it is left
	// to us.
	othersLimit = 0.25 // of the machine's cores, in a second

	// Pauses are tens of microseconds unless the process is in trouble. They count as stops do.
	gcLimit      = 10.0 // ms, longest
	gcShareLimit = 1.0  // % of the time, or as much as the longest may take

	// Ages are differences between the wall clock and the kernel's stamps.
	clockLimit = 10.0 // ms, either way

	// A request that holds its slot after its last chunk delays the next one, and no latency
	// includes that time.
	heldLimit   = 5.0 // % of E2EL
	heldLimitMS = 2.0 // ms, mean, if that is more

	// Requests that wait for a slot have not been sent, so no latency includes the wait. Bursts of a load that
	// seldom fills its slots wait for a few percent of E2EL.
	slotsLimit   = 10.0 // % of E2EL, mean
	slotsLimitMS = 5.0  // ms, mean, if that is more

	// A container that has used up its CPU quota gets no core until the next period.
	throttledLimit = 1.0 // % of the time

	// The time to connect depends on the network, not on the server. On one machine or in one rack
	// half a millisecond is usual, and steady traffic does not connect.
	connectLimit   = 5.0 // % of the TTFTs' sum
	connectLimitMS = 0.5 // ms a request, if that is more

	// If gaps come from the steps of tokens, their median is not far below the mean. Otherwise
	// something holds events back and releases them together. Fewer than a hundred gaps, or gaps
	// shorter than a timer's tick, say nothing.
	lumpyLimit  = 10.0 // %: median ITL of the mean
	lumpyGaps   = 100
	lumpyMeanMS = 1.0 // ms

	// A workload without shared prefixes finds next to nothing in a cache: only the request of the
	// rehearsal, and the beginning of a chat template.
	prefixLimit = 5.0 // % of the prompt tokens, and one request
	// All prompts begin with the same token or so, which SGLang and llama.cpp count as found.
	prefixForgiven = 4 // tokens a request, if that is more
	// Above this there is a warning.
	prefixWarned = 1.0 // % of the prompt tokens
	// A few prompts of a real dataset are equal. A dataset that is too short for the run repeats
	// over and over.
	repeatedLimit = 0.01 // of the requests

	// If a shard begins later than the others, they are alone at first and it is alone at the end.
	// Clocks of one site agree to a few milliseconds, and 100 ms is little compared with the ramps
	// of servers.
	startsLimit      = 100.0 // ms between the first and the last
	startsLimitOfRun = 1.0   // % of the run, if that is more

	// A few answers come whole, for example from a gateway's cache.
	streamingLimit = 5.0 // % of the answers of five tokens or more

	// An early chunk without content is not a token. A chunk that came a step later than another
	// may be a token without text.
	earlyLimit      = 10.0 // % of the TTFT to the first content
	earlyLimitOfITL = 2.0  // of the median, if that is more
	earlyLimitMS    = 1.0  // ms, likewise

	// Several answers to a request come in one stream.
	severalLimit = 1 // answers to a request

	// In a closed loop, slots are empty at the end only. A run of five times as many requests as slots has
	// 80 % or more in use.
	usedNoted = 80.0 // % of the slots
	// If fewer answers than this were quick, chance may be why.
	quickNoted = 1.0 // % of the answers, and two of them

	// A turn that waits for an answer cannot be prepared in advance if the answer is part of it. If
	// one turn in ten is late, that work is in the way. A busy scheduler delays fewer.
	turnsLimit    = 10.0 // % of the later turns, more than a millisecond late
	turnsForgiven = 2    // turns, if that is more

	// Requests that do not fit are the longest prompts.
	overflowLimit = 1.0 // % of the requests that were not cut short

	// Shares of the job time, and of the reusable tokens, from which on there is a note.
	sessionSlotsNoted = 1.0 // %
	reusedNoted       = 0.5

	foreignLimit = 0 // processes on the GPUs of the server
	faultsLimit  = 0 // servers of MPS
	clientsLimit = 1 // clients of MPS that are processes of the server

	exhaustedLimit = 0 // connections
	completedLimit = 1 // requests
)
