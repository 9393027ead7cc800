package trust

import (
	"fmt"
	"math"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/connecting"
	"github.com/servebench/servebench/metrics/aspect/late"
	"github.com/servebench/servebench/metrics/aspect/since"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/catalogue"
	"github.com/servebench/servebench/metrics/verdict"
)

// This file checks the load generator itself and its machine.

// What to do about them.
const (
	quieter   = "use a quieter machine, or less load"
	roomier   = "use more cores, or less load"
	frozen    = "check whether this process was suspended, throttled or debugged"
	alone     = "leave the machine to servebench"
	apart     = "end other programs, or run the server on another machine"
	unlimited = "check for a CPU limit of the container, and for other programs on its cores"
	elsewhere = "run the server on another machine"
)

// others finds that other processes used the cores, if that made this one measure late: it is the
// cause of the checks that failed.
func (j *judge) others() (verdict.Check, bool) {
	c := verdict.Check{Name: "other processes", Figure: j.seen.CPU.BusiestOthers, Unit: "cores",
		Limit: othersLimit * float64(j.seen.CPU.Machine), Remedy: j.contentionRemedy()}
	busiest := " in the busiest second"
	if mean := j.seen.CPU.Others.Seconds() / max(j.seen.CPU.Watched.Seconds(), 1e-9); mean > max(c.Figure/2, c.Limit) {
		c.Figure, busiest = mean, ""
	}
	of := fmt.Sprintf(" of %s", metrics.Counted(j.seen.CPU.Machine, "core"))
	if j.run.Source.Shards != nil {
		of += " of a shard's machine"
	}
	c.Text = fmt.Sprintf("other processes took %.1f%s%s", c.Figure, of, busiest)
	return c, j.crowded() && j.lateByCause(j.contentionRemedy())
}

// crowded reports that other processes used so much of the machine, and left so little, that this
// one had to wait for cores.
func (j *judge) crowded() bool {
	return j.seen.CPU.BusiestOthers > othersLimit*float64(max(j.seen.CPU.Machine, 1))
}

// besieged reports likewise that the servers on this machine did, together with other processes.
func (j *judge) besieged() bool {
	return j.seen.CPU.BusiestOthers+j.seen.CPU.BusiestServers > othersLimit*float64(max(j.seen.CPU.Machine, 1))
}

// quotaed reports that the CPU quota of the process's container stopped it.
func (j *judge) quotaed() bool { return j.watchedShare(j.seen.CPU.Throttled) > throttledLimit }

// throttled finds that the CPU quota of the container stopped this process, if that made it late: it is the
// cause of the checks that failed.
func (j *judge) throttled() (verdict.Check, bool) {
	c := verdict.Check{Name: "CPU quota", Figure: min(100, j.watchedShare(j.seen.CPU.Throttled)), Unit: "%",
		Limit: throttledLimit, Remedy: raiseQuota}
	c.Text = fmt.Sprintf("the CPU quota of its container, %s, stopped %s for up to %s of the time",
		quotaCores(j.seen.CPU.Quota), j.process(), verdict.ShowPercent(c.Figure))
	return c, j.quotaed() && j.lateByCause(raiseQuota)
}

// raiseQuota is the remedy against a quota.
const raiseQuota = "raise the CPU quota of the container"

// quotaCores is a number of cores, such as 0.5 cores.
func quotaCores(n float64) string {
	if n == 1 {
		return "1 core"
	}
	return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64) + " cores"
}

// lateByCause reports whether a check found that this process was late, and has that remedy.
func (j *judge) lateByCause(remedy string) bool {
	for _, find := range []func(*judge) (verdict.Check, bool){
		(*judge).rate, (*judge).lag, (*judge).turns, (*judge).sendDelay, (*judge).age, (*judge).wakeUp, (*judge).sharedReads,
		(*judge).longestStop, (*judge).stopped, (*judge).longestGC, (*judge).gcShare,
	} {
		if c, found := find(j); found && !c.Fine() && c.Remedy == remedy {
			return true
		}
	}
	return false
}

// lateRemedy is the remedy if this process was late: it is about other processes if they used the cores,
// and about more cores if this one did.
func (j *judge) lateRemedy(otherwise string) string {
	switch {
	case j.quotaed():
		return raiseQuota
	case j.crowded():
		return j.contentionRemedy()
	case j.besieged():
		return j.prioritized(elsewhere)
	case j.saturated():
		return j.spread()
	case j.stoodStill():
		return frozen
	case otherwise == quieter || otherwise == unlimited:
		return j.prioritized(otherwise)
	}
	return otherwise
}

// stoodStill reports that this process was stopped so often that this explains that it was late, and not
// because it had no core.
func (j *judge) stoodStill() bool {
	return j.watchedShare(j.seen.Pauses.Stalled) > stopShareLimit && j.seen.Pauses.StallWait < j.seen.Pauses.Stalled/2
}

// prioritized is a remedy against other programs, after the one that lets them run: a real-time priority,
// if this process may have one. It sleeps most of the time, so the others lose little.
func (j *judge) prioritized(remedy string) string {
	if !j.seen.CPU.MayPrioritize {
		return remedy
	}
	return "start servebench with chrt --rr 10, or " + remedy
}

// contentionRemedy is the remedy if other processes used the cores: the server may be one of them.
func (j *judge) contentionRemedy() string {
	at, err := url.Parse(j.run.Header.Config.BaseURL)
	if err == nil && (at.Hostname() == "localhost" || net.ParseIP(at.Hostname()).IsLoopback()) {
		return j.prioritized(apart)
	}
	return j.prioritized(alone)
}

// stopCause says how the process was stopped for a time, a part of which it waited for a core, and what
// to do about it.
func (j *judge) stopCause(still, waited time.Duration) (how, remedy string) {
	if waited > 0 && waited >= still/2 {
		return "had no core", j.lateRemedy(unlimited)
	}
	return "was stopped", frozen
}

func (j *judge) exhausted() (verdict.Check, bool) {
	conns := &j.seen.Connections
	c := verdict.Check{Name: "exhaustion", Figure: float64(conns.Exhausted), Unit: "connections", Limit: exhaustedLimit,
		Remedy: "raise ulimit -n, or set --max-concurrency"}
	c.Text = metrics.Counted(int(conns.Exhausted), "connection") + " could not be opened"
	if why := strings.Join(strings.Fields(conns.Exhaustion), " "); why != "" {
		c.Text += ": " + why
	}
	return c, conns.Exhausted > 0
}

func (j *judge) lag() (verdict.Check, bool) {
	c := verdict.Check{Name: "lag", Figure: j.run.Client.Lag.Percentile(99), Unit: "ms", Limit: lagLimit,
		Remedy: j.lateRemedy(quieter)}
	if _, first := j.first(); first.Len() > 0 {
		c.Limit = max(lagLimit, lagLimitOfTTFT*first.Mean())
	}
	c.Text = fmt.Sprintf("lag p99 %s", verdict.ShowMS(c.Figure))
	return c, j.run.Header.Config.Paced() && j.run.Client.Lag.Len() > 0
}

// first is the latency that the shortest wait for an answer has: TTFT, or E2EL if the answers came
// whole.
func (j *judge) first() (name string, latency *metrics.Distribution) {
	if j.run.Header.Config.Whole {
		return "E2EL", &j.run.E2EL
	}
	return "TTFT", &j.run.TTFT
}

// sendDelay is how much of TTFT is our own delay, as the difference that it makes to the p99 and to
// the mean: of the two, the one that is further beyond its limit.
func (j *judge) sendDelay() (verdict.Check, bool) {
	c := verdict.Check{Name: "send delay", Unit: "ms",
		Remedy: j.lateRemedy("use more cores, " + j.sharded("or --shard and --run-id, ") +
			"or fewer requests at once (--max-concurrency)")}
	without, of := &since.Of(j.run).UndelayedTTFT, ""
	if without.Len() == 0 || without.Len() != j.run.TTFT.Len() {
		return c, false
	}
	for _, n := range []struct {
		name          string
		with, without float64
		least         float64
	}{
		{"P99 TTFT", j.run.TTFT.Percentile(99), without.Percentile(99), delayP99MS},
		{"mean TTFT", j.run.TTFT.Mean(), without.Mean(), delayLimitMS},
		{"median TTFT", j.run.TTFT.Median(), without.Median(), delayLimitMS},
	} {
		figure, limit := max(0, n.with-n.without), max(n.least, n.with*delayLimit/100)
		if of == "" || figure/limit > c.Figure/c.Limit {
			c.Figure, c.Limit, of = figure, limit, n.name+" "+verdict.ShowMS(n.with)
		}
	}
	c.Text = fmt.Sprintf("%s of %s is our own delay between the start of a request and its last byte written",
		verdict.ShowMS(c.Figure), of)
	if connecting.Of(j.run).Requests > 0 {
		c.Text += ", not counting the time to connect"
	}
	return c, true
}

func (j *judge) age() (verdict.Check, bool) {
	c := verdict.Check{Name: "socket age", Unit: "ms", Limit: max(ageLimit, ageLimitOfITL*j.itl()),
		Remedy: j.lateRemedy(quieter)}
	if j.run.Client.Age.Len() > 0 {
		c.Figure = j.run.Client.Age.Percentile(99)
	}
	if j.disordered() {
		c.Remedy = "look at the network, which loses or reorders packets"
	}
	c.Text = fmt.Sprintf("socket read delay p99 %s against ITL %s", verdict.ShowMS(c.Figure), verdict.ShowMS(j.itl()))
	return c, j.run.Client.Age.Len() > 0 && j.hasGaps()
}

// disordered reports that packets arrived before an earlier one so often that this may explain the
// age at p99, although we read in time.
func (j *judge) disordered() bool {
	return verdict.Percent(j.seen.Stamps.Disordered, j.seen.Stamps.Kernel) > disorderLimit
}

// hasGaps reports that some request had a second token. A single chunk keeps the kernel's stamp
// however long it waits.
func (j *judge) hasGaps() bool {
	t := tokens.Of(j.run)
	return t.MeanITL > 0 || t.ITL.Len() > 0 || t.Fewer > 0 && j.run.ITL.Len() > 0
}

// userStamped reports that most chunks were stamped after the read: their stamps include our delay,
// and no age shows it.
func (j *judge) userStamped() bool { return j.seen.Stamps.User > j.seen.Stamps.Kernel }

// mixedStamps reports that enough chunks were stamped after the read to spoil a P99.
func (j *judge) mixedStamps() bool {
	return verdict.Percent(j.seen.Stamps.User, j.seen.Stamps.User+j.seen.Stamps.Kernel) > userStampsLimit
}

// wakeUp replaces the age if the kernel did not stamp.
func (j *judge) wakeUp() (verdict.Check, bool) {
	name, first := j.first()
	least := math.Inf(1)
	if first.Len() > 0 {
		least = first.Percentile(99)
	}
	if j.run.ITL.Len() > 0 && j.run.ITL.Percentile(99) < least {
		name, least = "ITL", j.run.ITL.Percentile(99)
	}
	c := verdict.Check{Name: "wake-up", Figure: metrics.Milliseconds(j.seen.Pauses.WakeP99), Unit: "ms",
		Limit: max(wakeLimit, wakeLimitOfPrint*least), Remedy: j.lateRemedy(quieter)}
	c.Text = fmt.Sprintf("%s woke up %s late at p99, against P99 %s %s", j.process(), verdict.ShowMS(c.Figure), name,
		verdict.ShowMS(least))
	if !c.Fine() {
		c.Text += ", and what it stamps once it has read it is as late"
	}
	return c, j.mixedStamps() && j.seen.Pauses.WakeP99 > 0 && !math.IsInf(least, 1)
}

// sharedShare is the share of chunks that shared a read, in percent.
func (j *judge) sharedShare() float64 {
	return verdict.Percent(j.seen.Stamps.SharedReads, j.seen.Stamps.Kernel+j.seen.Stamps.User)
}

// late reports that the client read so late, so often, that this may explain the shared reads. If a
// proxy sends bursts, a reader that is late now and then is not to blame.
func (j *judge) late() bool {
	few, share := lateLimitOfITL*j.itl(), j.sharedShare()
	often := min(max(sharedLimit, share), 90)
	switch {
	case j.run.Client.Age.Len() > 0 && !j.disordered() && j.run.Client.Age.Percentile(100-often) > max(lateLimit, few):
		return true
	case j.userStamped() && metrics.Milliseconds(j.seen.Pauses.WakeP99) > max(wakeLimit, few):
		return true
	}
	// Events that came while the process was stopped for longer than an ITL have piled up.
	stood := max(j.seen.Pauses.Stalled, j.seen.Pauses.LongestStall)
	if share > sharedLimit && share > stopsPile*j.watchedShare(stood) {
		return false
	}
	if itl := j.itl(); j.hasGaps() && metrics.Milliseconds(j.seen.Pauses.LongestStall) > itl {
		return true
	}
	c, found := j.stopped()
	return found && !c.Fine()
}

func (j *judge) sharedReads() (verdict.Check, bool) {
	c := verdict.Check{Name: "shared reads", Figure: j.sharedShare(), Unit: "%", Limit: sharedLimit,
		Remedy: j.lateRemedy(quieter)}
	stamps := late.Of(j.run)
	if stamps.Chunks == 0 {
		c.Text = fmt.Sprintf("%s of chunks shared a read while we read late: they have one timestamp",
			verdict.ShowPercent(c.Figure))
		return c, j.seen.Stamps.SharedReads > 0 && j.late()
	}
	share := verdict.Percent(stamps.Chunks, stamps.Of)
	c.Text = fmt.Sprintf("%s of chunks have the timestamp of a later one, which we read late", verdict.ShowPercent(share))
	name := ""
	c.Figure, c.Unit, c.Limit = 0, "ms", lateLimit
	for _, n := range j.bent() {
		if name == "" || n.off/n.limit > c.Figure/c.Limit {
			name, c.Figure, c.Limit = n.name, n.off, n.limit
		}
	}
	if name != "" {
		c.Text += fmt.Sprintf(", so %s may be off by %s", name, verdict.ShowMS(c.Figure))
	}
	return c, true
}

// bentMeanITL is by how many milliseconds marked chunks may have changed the mean of ITL. What a gap lacks the
// next one has, so only the first chunks of answers and the last ones matter.
func (j *judge) bentMeanITL() (off float64) {
	for _, metric := range []string{"ttft", "e2el"} {
		if least, _ := late.Bounds(j.run, metric); least != nil {
			is := j.run.Latency(metric)
			off = max(off, (is.Mean()-least.Mean())*float64(is.Len())/float64(j.run.ITL.Len()))
		}
	}
	return off
}

// A bentNumber is a number that marked chunks may have changed by off milliseconds at most.
type bentNumber struct {
	name       string
	off, limit float64
}

// bent are the numbers of the block that marked chunks bend.
func (j *judge) bent() (all []bentNumber) {
	for _, latency := range metrics.Metrics {
		least, most := late.Bounds(j.run, latency.Name)
		if least == nil {
			continue
		}
		for _, n := range catalogue.Choose("p99_"+latency.Name, "median_"+latency.Name, "mean_"+latency.Name) {
			is, share := n.Statistic(latency.Of(j.run)), lateLimitOf
			if latency.Name == "itl" && n.Percentile == 99 {
				share = lateLimitOfITL
			}
			off := max(n.Statistic(most)-is, is-n.Statistic(least))
			if latency.Name == "itl" && n.Percentile == 0 {
				off = j.bentMeanITL()
			}
			all = append(all, bentNumber{strings.TrimSuffix(n.Head, " ms"), off, max(lateLimit, share*is)})
		}
	}
	return all
}

func (j *judge) longestStop() (verdict.Check, bool) {
	how, remedy := j.stopCause(j.seen.Pauses.LongestStall, j.seen.Pauses.LongestStallWait)
	c := verdict.Check{Name: "longest stop", Figure: metrics.Milliseconds(j.seen.Pauses.LongestStall), Unit: "ms",
		Limit: max(stopLimit, j.itl()), Remedy: remedy}
	c.Text = fmt.Sprintf("%s %s for %s at once", j.process(), how, verdict.ShowMS(c.Figure))
	return c, j.seen.Pauses.Stalls > 0 && j.mixedStamps()
}

func (j *judge) stopped() (verdict.Check, bool) {
	how, remedy := j.stopCause(j.seen.Pauses.Stalled, j.seen.Pauses.StallWait)
	c := verdict.Check{Name: "stopped", Figure: j.watchedShare(j.seen.Pauses.Stalled), Unit: "%", Remedy: remedy}
	c.Limit = max(stopShareLimit, j.watchedShare(stopForgiven))
	c.Text = fmt.Sprintf("%s %s for %s of the time, in %s", j.process(), how, verdict.ShowPercent(c.Figure),
		metrics.Counted(j.seen.Pauses.Stalls, "stop"))
	return c, j.seen.Pauses.Stalls > 0 && j.mixedStamps()
}

func (j *judge) busiestSecond() (verdict.Check, bool) {
	c := verdict.Check{Name: "busiest second", Figure: j.seen.CPU.Busiest * 100, Unit: "%", Limit: busiestLimit,
		Remedy: roomier}
	c.Text = fmt.Sprintf("own CPU %s of %s in the busiest second", verdict.ShowPercent(c.Figure),
		metrics.Counted(j.seen.CPU.Cores, "core"))
	if j.run.Source.Shards != nil {
		c.Text = fmt.Sprintf("own CPU of a shard %s of its cores in the busiest second", verdict.ShowPercent(c.Figure))
	}
	return j.split(c), j.seen.CPU.Used > 0 && j.seen.CPU.Watched >= busiestFrom
}

func (j *judge) meanCPU() (verdict.Check, bool) {
	c := verdict.Check{Name: "own CPU", Unit: "%", Limit: meanCPULimit, Remedy: roomier}
	c.Figure = j.watchedShare(j.seen.CPU.Used) / float64(max(j.seen.CPU.Cores, 1))
	c.Text = fmt.Sprintf("own CPU %s of %s", verdict.ShowPercent(c.Figure), metrics.Counted(j.seen.CPU.Cores, "core"))
	return j.split(c), j.seen.CPU.Used > 0 && j.seen.CPU.Watched >= meanCPUFrom
}

func (j *judge) stolen() (verdict.Check, bool) {
	c := verdict.Check{Name: "stolen CPU", Figure: j.seen.CPU.Stolen * 100, Unit: "%", Limit: stolenLimit,
		Remedy: "use another machine"}
	c.Text = fmt.Sprintf("%s of this machine's CPU time was stolen by its host", verdict.ShowPercent(c.Figure))
	return c, j.seen.CPU.Stolen > 0
}

func (j *judge) longestGC() (verdict.Check, bool) {
	c := verdict.Check{Name: "longest GC pause", Figure: metrics.Milliseconds(j.seen.Pauses.LongestGC), Unit: "ms",
		Limit: gcLimit, Remedy: frozen}
	c.Text = fmt.Sprintf("garbage collection stopped us for %s at once", verdict.ShowMS(c.Figure))
	if j.starved() {
		c.Remedy = j.lateRemedy(unlimited)
		c.Text = fmt.Sprintf("%s had no core for %s while it collected garbage, which takes microseconds", j.process(),
			verdict.ShowMS(c.Figure))
	}
	return c, j.seen.Pauses.GCs > 0 && j.mixedStamps()
}

// starved reports whether collections took long because the process had no core: its threads waited
// for one for at least half as long as the longest pause.
func (j *judge) starved() bool {
	return j.seen.Pauses.GCWait > 0 && j.seen.Pauses.GCWait >= j.seen.Pauses.LongestGC/2
}

func (j *judge) gcShare() (verdict.Check, bool) {
	c := verdict.Check{Name: "GC pauses", Figure: j.watchedShare(j.seen.Pauses.GCPaused), Unit: "%", Remedy: frozen}
	c.Limit = max(gcShareLimit, j.watchedShare(gcLimit*time.Millisecond))
	c.Text = fmt.Sprintf("garbage collection stopped us for %s of the time", verdict.ShowPercent(c.Figure))
	if j.starved() {
		c.Remedy = j.lateRemedy(unlimited)
		c.Text = fmt.Sprintf("%s had no core for %s of the time while it collected garbage, which takes microseconds",
			j.process(), verdict.ShowPercent(c.Figure))
	}
	return c, j.seen.Pauses.GCs > 0 && j.mixedStamps()
}

// noteStops says how this process was stopped, if the kernel's stamps kept that out of the latencies.
func (j *judge) noteStops() string {
	pauses := &j.seen.Pauses
	var said []string
	_, stopped := j.stopped()
	stood := metrics.Milliseconds(pauses.LongestStall) > stopNoted || j.watchedShare(pauses.Stalled) > stopShareLimit
	if how, _ := j.stopCause(pauses.Stalled, pauses.StallWait); stood && !stopped {
		said = append(said, fmt.Sprintf("%s for %s at most and %s of the time, in %s", how,
			verdict.ShowMS(metrics.Milliseconds(pauses.LongestStall)), verdict.ShowPercent(j.watchedShare(pauses.Stalled)),
			metrics.Counted(pauses.Stalls, "stop")))
	}
	_, paused := j.longestGC()
	if longest := metrics.Milliseconds(pauses.LongestGC); longest > gcLimit && !paused {
		said = append(said, fmt.Sprintf("was stopped by garbage collection for %s at most", verdict.ShowMS(longest)))
	}
	if said == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: the kernel stamped what came meanwhile, and the checks of sends and of shared reads say "+
		"what that changed",
		j.process(), strings.Join(said, ", and "))
}

func (j *judge) clock() (verdict.Check, bool) {
	c := verdict.Check{Name: "clock step", Figure: metrics.Milliseconds(j.seen.Pauses.ClockStep.Abs()), Unit: "ms",
		Limit: clockLimit, Remedy: "measure again"}
	c.Text = fmt.Sprintf("the wall clock was set by %s: arrival stamps rest on it",
		verdict.ShowMS(metrics.Milliseconds(j.seen.Pauses.ClockStep)))
	return c, j.seen.Pauses.ClockStep != 0 && j.seen.Stamps.Kernel > 0
}

func (j *judge) selftestCoverage() (verdict.Check, bool) {
	v, n := j.seen.Selftest, j.run.Truth.PeakConcurrency+j.seen.OtherInFlight
	if v == nil || v.Kernel && j.userStamped() {
		return verdict.Check{}, false
	}
	c := verdict.Check{Name: "selftest", Figure: float64(n), Unit: "requests", Limit: float64(v.Streams),
		Remedy: "have fewer in flight, or use a faster machine"}
	where := ""
	if j.seen.OtherInFlight > 0 {
		where = " on all targets"
	}
	c.Text = fmt.Sprintf("%d in flight at once%s, %s vouches for %d", n, where, j.selftest(), v.Streams)
	wrong := v.WrongFrom > 0 && n >= v.WrongFrom
	if wrong {
		c.Limit = float64(v.WrongFrom - 1)
		c.Text = fmt.Sprintf("%d in flight at once%s, %s was wrong at %d", n, where, j.selftest(), v.WrongFrom)
	}
	return c, wrong || n <= v.Streams
}

// process names what was watched: for shards, the worst one.
func (j *judge) process() string {
	if j.run.Source.Shards != nil {
		return "the process of a shard"
	}
	return "this process"
}

func (j *judge) selftest() string {
	if j.run.Source.Shards != nil {
		return "the selftest of the shards' machines"
	}
	return "the selftest of this machine"
}
