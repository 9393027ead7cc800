package sessions

import (
	"encoding/binary"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// A leg is what a turn took of a session. It is empty if it has no end.
type leg struct {
	turn  int
	waits []int
	end   time.Duration

	server, prefill     time.Duration // before end; prefill is the first part of server
	lag                 time.Duration // before that
	queue, sessionSlots time.Duration // before that; sessionSlots is a part of queue
	gap                 time.Duration // before that, from ready to due
	tool, early, exists bool          // early: it was sent before ready
}

func legOf(r *record.Record) leg {
	step, at := r.Session, &r.Times
	l := leg{
		turn: r.Turn, waits: step.Waits, end: at.End, server: at.End - at.Sent, lag: r.Lag(),
		queue: max(at.Due, at.Slot) - at.Due,
		gap:   r.Times.Due - step.Ready, tool: step.Tool, early: r.Times.Sent < step.Ready, exists: true,
	}
	l.prefill, l.sessionSlots = l.server, min(max(step.SessionSlot-r.Times.Due, 0), l.queue)
	if r.Answer.Chunks.Len() > 0 {
		l.prefill = r.Answer.Chunks.First() - r.Times.Sent
	}
	return l
}

func (l *leg) sent() time.Duration { return l.end - l.server }

func (l *leg) due() time.Duration { return l.sent() - l.lag - l.queue }

func (l *leg) ready() time.Duration { return l.due() - l.gap }

// pack appends l.
func (l *leg) pack(b []byte) []byte {
	flags := uint64(len(l.waits)) << 2
	if l.tool {
		flags |= 1
	}
	if l.early {
		flags |= 2
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(l.turn)), flags)
	for _, turn := range l.waits {
		b = binary.AppendUvarint(b, uint64(turn))
	}
	for _, d := range [...]time.Duration{l.end, l.server, l.prefill, l.lag, l.queue, l.sessionSlots, l.gap} {
		b = binary.AppendVarint(b, int64(d))
	}
	return b
}

// leg reads what pack appends.
func (u *unpacker) leg() leg {
	l := leg{turn: int(u.uint()), exists: true}
	flags := u.uint()
	l.tool, l.early = flags&1 != 0, flags&2 != 0
	for range flags >> 2 {
		l.waits = append(l.waits, int(u.uint()))
	}
	for _, d := range [...]*time.Duration{&l.end, &l.server, &l.prefill, &l.lag, &l.queue, &l.sessionSlots, &l.gap} {
		*d = time.Duration(u.int())
	}
	return l
}

// walk goes along the critical path of a completed session. disordered are the turns that were sent
// after ready and before the end of a turn that they waited for.
func (s *session) walk() (parts JobParts, disordered int) {
	legs := make([]leg, s.turns)
	last := 0
	for u := (unpacker{s.legs}); len(u.left) > 0; {
		if l := u.leg(); l.turn >= 0 && l.turn < len(legs) {
			legs[l.turn] = l
		}
	}
	for i := range legs {
		if legs[i].end > legs[last].end {
			last = i
		}
		if awaited := latest(legs, i); awaited >= 0 && legs[i].sent() < legs[awaited].end && !legs[i].early {
			disordered++
		}
	}
	for at := last; at >= 0; {
		l, before := &legs[at], latest(legs, at)
		parts.Prefill += l.prefill
		parts.Decode += l.server - l.prefill
		parts.Lag += l.lag
		parts.SessionSlots += l.sessionSlots
		parts.Slots += l.queue - l.sessionSlots
		gap := l.due() - s.due
		if before >= 0 {
			gap = l.gap
			if after := l.ready() - legs[before].end; after < 0 {
				parts.Decode += after // its last byte came before we noticed its end
			} else {
				parts.Lag += after
			}
		}
		if l.tool {
			parts.Tool += gap
		} else {
			parts.Think += gap
		}
		at = before
	}
	return parts, disordered
}

// latest is the turn that ended last among those that turn i waited for, -1 if it waited for none. A
// turn waits for earlier ones only.
func latest(legs []leg, i int) int {
	found := -1
	for _, turn := range legs[i].waits {
		if turn >= 0 && turn < i && legs[turn].exists && (found < 0 || legs[turn].end > legs[found].end) {
			found = turn
		}
	}
	return found
}

// An unpacker reads numbers.
type unpacker struct{ left []byte }

func (u *unpacker) int() int64 {
	v, n := binary.Varint(u.left)
	u.left = u.left[n:]
	return v
}

func (u *unpacker) uint() uint64 {
	v, n := binary.Uvarint(u.left)
	u.left = u.left[n:]
	return v
}
