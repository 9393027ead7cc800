package metrics

import (
	"cmp"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/samples"
)

// Evidence is what a load generator noticed about itself and its machine during the measurement:
// the basis of the verdict. Zero in a field means that nothing was noticed, or that nothing
// watched.
type Evidence struct {
	// Cores are the cores that the process may use at once, Machine the cores of its machine; 0 if
	// unknown. For several shards Machine is of the machine that OthersCPU is of.
	Cores   int `json:"cores,omitempty"`
	Machine int `json:"machine,omitempty"`
	// Watched is how long the process was watched, and CPU what it used in that time.
	Watched time.Duration `json:"watched,omitempty"`
	CPU     time.Duration `json:"cpu,omitempty"`
	// BusiestCPU is the share of its cores that it used in its busiest second, 0 to 1.
	BusiestCPU float64 `json:"busiest_cpu,omitempty"`
	// StolenCPU is the share of the machine's CPU time that a hypervisor kept, 0 to 1.
	StolenCPU float64 `json:"stolen_cpu,omitempty"`

	// OthersCPU is the CPU time of all other processes of the machine in that time, interrupts
	// not counted. BusiestOthers is how many cores they had in the second in which they had
	// most and hardly a core was idle; 0 if there was no such second.
	OthersCPU     time.Duration `json:"others_cpu,omitempty"`
	BusiestOthers float64       `json:"busiest_others,omitempty"`
	// BusiestServers is how many cores the servers of the load that run on this machine had in that second.
	// Neither of the others includes them.
	BusiestServers float64 `json:"busiest_servers,omitempty"`

	// Quota is how many cores the CPU quota of the process's container gives it, 0 without one, and
	// Throttled how long that quota stopped it.
	Quota     float64       `json:"quota,omitempty"`
	Throttled time.Duration `json:"throttled,omitempty"`

	// MayPrioritize says that chrt --rr 10 could have given the process a real-time priority, which
	// it did not have.
	MayPrioritize bool `json:"may_prioritize,omitempty"`

	// Stalls is how often the whole process was stopped, Stalled for how long in all.
	Stalls       int           `json:"stalls,omitempty"`
	Stalled      time.Duration `json:"stalled,omitempty"`
	LongestStall time.Duration `json:"longest_stall,omitempty"`
	// StallWait is the part of Stalled for which a thread of the process could have run and had
	// no core, and LongestStallWait that part of LongestStall.
	StallWait        time.Duration `json:"stall_wait,omitempty"`
	LongestStallWait time.Duration `json:"longest_stall_wait,omitempty"`
	// WakeP99 is how late the process woke up for a timer, 99th percentile.
	WakeP99 time.Duration `json:"wake_p99,omitempty"`
	// GCs are garbage collections, GCPaused their pauses in all, LongestGC the longest one.
	GCs       int           `json:"gcs,omitempty"`
	GCPaused  time.Duration `json:"gc_paused,omitempty"`
	LongestGC time.Duration `json:"longest_gc,omitempty"`
	// GCWait is how long threads of the process had no core in the second of LongestGC.
	GCWait time.Duration `json:"gc_wait,omitempty"`
	// ClockStep is by how much the wall clock was set.
	ClockStep time.Duration `json:"clock_step,omitempty"`

	// KernelStamps are chunks whose arrival the kernel stamped, UserStamps those stamped after the
	// read.
	KernelStamps int64 `json:"kernel_stamps,omitempty"`
	UserStamps   int64 `json:"user_stamps,omitempty"`
	// SharedReads are chunks with content that shared a read with an earlier chunk.
	SharedReads int64 `json:"shared_reads,omitempty"`
	// Disordered are packets that arrived before an earlier packet, which was lost or overtaken.
	Disordered int64 `json:"disordered,omitempty"`

	// WriteBlocked is how long records waited because their stream's reader or disk was slow.
	WriteBlocked time.Duration `json:"write_blocked,omitempty"`

	// Opened are the connections opened during the run, Warmed those opened beforehand.
	Opened int64 `json:"opened,omitempty"`
	Warmed int64 `json:"warmed,omitempty"`
	// Closed are replies after which the server closed the connection.
	Closed int64 `json:"closed,omitempty"`
	// Packed are replies that came compressed.
	Packed int64 `json:"packed,omitempty"`
	// Dropped are connections that were not used again after an answer, because the server had
	// closed others without notice.
	Dropped int64 `json:"dropped,omitempty"`
	// Unprocessed is how often a server said over HTTP/2 that it did not process a request, which was
	// then sent again.
	Unprocessed int64 `json:"unprocessed,omitempty"`
	// Exhausted are connections that could not be opened for lack of descriptors or ports, and
	// Exhaustion is the first such error.
	Exhausted  int64  `json:"exhausted,omitempty"`
	Exhaustion string `json:"exhaustion,omitempty"`
	// Protocol is the protocol of the replies, such as HTTP/1.1.
	Protocol string `json:"protocol,omitempty"`
	// Transport says which code spoke HTTP: TransportOwn or TransportNet, or both with "and" between
	// them; empty if no connection was opened.
	Transport string `json:"transport,omitempty"`
	// Names are the names of servers and proxies that were looked up; nil if addresses were given.
	Names []Lookup `json:"names,omitempty"`
	// Cookies are the names of the cookies that the server set, and that requests returned.
	Cookies []string `json:"cookies,omitempty"`
	// Proxy is the host of the proxy, if requests go through one.
	Proxy string `json:"proxy,omitempty"`
	// Unverified says that nobody verified the server's TLS certificate.
	Unverified bool `json:"unverified,omitempty"`

	// PrefixQueries are the prompt tokens that the server looked up in its prefix cache, and
	// PrefixHits those that it found there.
	PrefixQueries int64 `json:"prefix_queries,omitempty"`
	PrefixHits    int64 `json:"prefix_hits,omitempty"`
	// Times are what the server's histograms of times counted; nil for none.
	Times *samples.Totals `json:"server_times,omitempty"`
	// Mixed is why the server's counters say nothing about this run: its /metrics are of several
	// processes, or include other load.
	Mixed string `json:"mixed,omitempty"`
	// Restarted is why the run measured several starts of the server, as far as this machine can tell;
	// empty if it may be one.
	Restarted string `json:"restarted,omitempty"`
	// Repeated are requests with the same content as an earlier request of the run.
	Repeated int64 `json:"repeated,omitempty"`

	// GPU is what was seen of the GPUs, apart from samples; nil if nothing watched.
	GPU *gpu.State `json:"gpu,omitempty"`

	// OtherInFlight is the most requests in flight at once on the other targets of the process.
	OtherInFlight int `json:"beside,omitempty"`

	// Selftest is the result of a selftest of this machine, nil without one.
	Selftest *Selftest `json:"vouched,omitempty"`
}

// Selftest is the result of a selftest: the load up to which a machine's numbers are right, and the
// load from which on they are wrong. Loads between the two were not tried, or the attempt was void.
type Selftest struct {
	Streams   int           `json:"streams"`              // at once, 0 if not trusted
	ErrorP99  time.Duration `json:"error_p99"`            // of an arrival's stamp, at that load
	WrongFrom int           `json:"wrong_from,omitempty"` // streams at once, 0 if no load was wrong
	Kernel    bool          `json:"kernel,omitempty"`     // it applies to kernel stamps only
	// PerCore is how many chunks a second fill one core, 0 if that is unknown.
	PerCore float64 `json:"per_core,omitempty"`
}

// add adds the evidence of another shard to e, except for the cores. The shards ran at the same
// time, perhaps on the same machine, whose selftest then covers both together.
func (e *Evidence) add(other *Evidence, sameMachine bool) {
	e.Watched = max(e.Watched, other.Watched)
	e.CPU += other.CPU
	e.BusiestCPU = max(e.BusiestCPU, other.BusiestCPU)
	e.StolenCPU = max(e.StolenCPU, other.StolenCPU)
	if other.Stalled > e.Stalled {
		e.Stalls, e.Stalled, e.StallWait = other.Stalls, other.Stalled, other.StallWait
	}
	// Cores of others are many or few by their machine.
	if cmp.Or(cmp.Compare(other.othersShare(), e.othersShare()), cmp.Compare(other.OthersCPU, e.OthersCPU)) > 0 {
		e.Machine, e.OthersCPU, e.BusiestOthers, e.BusiestServers = other.Machine, other.OthersCPU, other.BusiestOthers,
			other.BusiestServers
	}
	if other.Throttled > e.Throttled {
		e.Quota, e.Throttled = other.Quota, other.Throttled
	}
	if other.LongestStall > e.LongestStall {
		e.LongestStall, e.LongestStallWait = other.LongestStall, other.LongestStallWait
	}
	e.WakeP99 = max(e.WakeP99, other.WakeP99)
	e.GCs += other.GCs
	e.GCPaused = max(e.GCPaused, other.GCPaused)
	if other.LongestGC > e.LongestGC {
		e.LongestGC, e.GCWait = other.LongestGC, other.GCWait
	}
	if other.ClockStep.Abs() > e.ClockStep.Abs() {
		e.ClockStep = other.ClockStep
	}
	e.KernelStamps += other.KernelStamps
	e.UserStamps += other.UserStamps
	e.SharedReads += other.SharedReads
	e.Disordered += other.Disordered
	e.WriteBlocked = max(e.WriteBlocked, other.WriteBlocked)
	e.Opened += other.Opened
	e.Warmed += other.Warmed
	e.Closed += other.Closed
	e.Packed += other.Packed
	e.Dropped += other.Dropped
	e.Unprocessed += other.Unprocessed
	e.Exhausted += other.Exhausted
	e.Exhaustion = cmp.Or(e.Exhaustion, other.Exhaustion)
	e.Protocol = cmp.Or(e.Protocol, other.Protocol)
	e.Transport = bothTransports(e.Transport, other.Transport)
	e.Names = addLookups(e.Names, other.Names)
	e.Cookies = slices.Compact(slices.Sorted(slices.Values(slices.Concat(e.Cookies, other.Cookies))))
	e.Proxy = cmp.Or(e.Proxy, other.Proxy)
	e.Unverified = e.Unverified || other.Unverified
	e.MayPrioritize = e.MayPrioritize || other.MayPrioritize
	// Each shard saw the whole server's counters: one shard's counters are enough.
	e.PrefixQueries = max(e.PrefixQueries, other.PrefixQueries)
	e.PrefixHits = max(e.PrefixHits, other.PrefixHits)
	if e.Times == nil || other.Times != nil && other.Times.Prefill.Requests > e.Times.Prefill.Requests {
		e.Times = other.Times
	}
	if e.Mixed = cmp.Or(e.Mixed, other.Mixed); e.Mixed != "" {
		e.PrefixQueries, e.PrefixHits, e.Times = 0, 0, nil
	}
	e.Restarted = cmp.Or(e.Restarted, other.Restarted)
	e.Repeated += other.Repeated
	e.GPU = e.GPU.Add(other.GPU)
	e.OtherInFlight += other.OtherInFlight
	if !sameMachine {
		e.Selftest = e.Selftest.together(other.Selftest)
	}
}

// othersShare is the share of its machine that other processes had in their busiest second.
func (e *Evidence) othersShare() float64 { return e.BusiestOthers / float64(max(e.Machine, 1)) }

// together combines the selftests of two machines that share the load; nil if one of them has none.
func (v *Selftest) together(other *Selftest) *Selftest {
	if v == nil || other == nil {
		return nil
	}
	both := &Selftest{
		Streams: v.Streams + other.Streams, ErrorP99: max(v.ErrorP99, other.ErrorP99), Kernel: v.Kernel || other.Kernel,
		PerCore: min(v.PerCore, other.PerCore),
	}
	if v.WrongFrom > 0 || other.WrongFrom > 0 {
		both.WrongFrom = cmp.Or(v.WrongFrom, v.Streams) + cmp.Or(other.WrongFrom, other.Streams)
	}
	return both
}

// The values of Evidence.Transport.
const (
	TransportOwn = "own"      // servebench's HTTP/1.1, in the goroutine of each stream
	TransportNet = "net/http" // Go's HTTP, for HTTP/2, for proxies, and with --transport net
)

// bothTransports is the Transport of two parts of a run.
func bothTransports(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return TransportOwn + " and " + TransportNet
}
