package host

import "time"

// A quotaUse tells how long the CPU quota of this process's container stopped it.
type quotaUse struct {
	group cgroup
	cores float64 // 0 without a quota
	since time.Duration
}

// readQuota begins to watch the group with the least quota, which stops first.
func readQuota() (q quotaUse) { return quotaIn(procFolder) }

func quotaIn(proc string) (q quotaUse) {
	q.group, q.cores = leastQuota(proc)
	q.since = q.throttled()
	return q
}

// throttled is for how long the group was stopped in its life, summed over the cores on which its threads
// were stopped at the same time.
func (q *quotaUse) throttled() time.Duration {
	switch {
	case q.cores == 0:
		return 0
	case q.group.v2:
		return time.Duration(q.group.stat("cpu.stat", "throttled_usec")) * time.Microsecond
	}
	return time.Duration(q.group.stat("cpu.stat", "throttled_time"))
}

// used is the quota in cores, 0 without one, and for how long it stopped the group since readQuota.
func (q *quotaUse) used() (cores float64, throttled time.Duration) {
	return q.cores, max(0, q.throttled()-q.since)
}
