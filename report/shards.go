package report

import (
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// shards says how many there are, and on how many machines.
func shards(s *metrics.Summary) string {
	if s.Shards == nil {
		return ""
	}
	text := counted(s.Shards.Of, "shard")
	if s.Shards.Sound < s.Shards.Of {
		text = fmt.Sprintf("%d of %s sound", s.Shards.Sound, text)
	}
	if n := len(s.Shards.Hosts); n > 0 {
		text += " on " + counted(n, "host")
	}
	return text
}

func firstSends(s *metrics.Summary) string {
	if s.Shards == nil || s.Shards.Late == nil {
		return ""
	}
	return fmt.Sprintf("within %.2f ms of each other", milliseconds(s.Shards.Apart()))
}

// clocks says how far the shards' clocks are known to be off. Those of one machine
// are one clock.
func clocks(s *metrics.Summary) string {
	if s.Shards == nil || len(s.Shards.Hosts) == 1 {
		return ""
	}
	var parts []string
	if o := s.Shards.Offsets; o != nil {
		parts = append(parts, fmt.Sprintf("offsets %.2f to %.2f ms, known to %.2f ms", milliseconds(o.From), milliseconds(o.To), milliseconds(s.Shards.Error)))
	}
	if names := s.Shards.Unclocked; names != nil {
		parts = append(parts, fmt.Sprintf("not known of %s: times across shards are only as right as their clocks", strings.Join(names, ", ")))
	}
	return strings.Join(parts, "; ")
}

// shardFacts are the same in the object of a result file.
func shardFacts(d *dict, s *metrics.Shards) {
	d.set("shards", s.Of)
	d.set("sound_shards", s.Sound)
	d.set("shard_faults", append([]string{}, s.Faults...))
	d.set("hosts", append([]string{}, s.Hosts...))
	if s.Late != nil {
		d.set("first_sends_apart_ms", milliseconds(s.Apart()))
		d.set("first_send_late_ms", milliseconds(s.Late.From))
		d.set("last_first_send_late_ms", milliseconds(s.Late.To))
	}
	if s.Offsets != nil {
		d.set("least_clock_offset_ms", milliseconds(s.Offsets.From))
		d.set("greatest_clock_offset_ms", milliseconds(s.Offsets.To))
		d.set("clock_error_ms", milliseconds(s.Error))
	}
	d.set("unknown_clocks", append([]string{}, s.Unclocked...))
}
