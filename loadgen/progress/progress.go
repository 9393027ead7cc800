// Package progress shows a load on a terminal while it goes on, in tqdm's shape: a line for
// each target. Other text goes to the same Talk, so that neither spoils the other.
package progress

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/report/screen"
)

// A Load is what to show.
type Load struct {
	// Start is when the clock of the run started.
	Start time.Time

	// Began is when the first measured request is sent, after a delay and a warm-up.
	Began time.Duration

	// Until is when the last is sent, where no Total says it; 0 where it does.
	Until time.Duration

	// Targets are shown in a line each.
	Targets []Target
}

// A Target is the part of a Load for one target.
type Target struct {
	// Name stands before its line, if there are several.
	Name string

	// Total is the number of requests, or of sessions.
	Total int

	// Live counts what happens.
	Live *engine.Live
}

// A display is a line for each target. On a terminal it is rewritten ten times a second;
// elsewhere lines follow each other every ten seconds. A terminal with too few rows has one
// line for all targets.
type display struct {
	Load
	talk *Talk
	tty  bool
	each []*bar // of the targets
	all  *bar   // of all targets together
	quit chan struct{}
	done chan struct{}
}

// A bar is one line of a display.
type bar struct {
	name  string // with a colon, in the width of the longest; empty for a single line
	total int
	live  []*engine.Live

	// From and chunks are when the live rate was last taken, and how many there were.
	from   time.Time
	chunks int64
	rate   float64
	recent bool // the rate is of the last seconds
}

// tokenWindow is the time over which live tokens a second are averaged.
const tokenWindow = 2 * time.Second

// Show shows a load on talk until over is called, which leaves the last lines.
func Show(talk *Talk, l Load) (over func()) {
	return (&display{Load: l, talk: talk, tty: screen.Of(talk).Rewrites}).show()
}

// show starts the display; the returned func ends it, with the last lines.
func (p *display) show() (stop func()) {
	p.quit, p.done = make(chan struct{}), make(chan struct{})
	p.divide()
	go p.loop()
	return func() {
		close(p.quit)
		<-p.done
	}
}

// divide makes a bar for each target, and one for all.
func (p *display) divide() {
	width := 0
	p.all = &bar{from: p.Start}
	for _, t := range p.Targets {
		p.all.total += t.Total
		p.all.live = append(p.all.live, t.Live)
		p.each = append(p.each, &bar{name: t.Name + ": ", total: t.Total, live: []*engine.Live{t.Live}, from: p.Start})
		width = max(width, screen.Width(t.Name+": "))
	}
	for _, b := range p.each {
		b.name = screen.Pad(b.name, width)
	}
}

// bars are the lines to show on a terminal of so many rows.
func (p *display) bars(rows int) []*bar {
	if len(p.each) == 1 || p.tty && len(p.each) >= rows {
		return []*bar{p.all}
	}
	return p.each
}

func (p *display) loop() {
	defer close(p.done)
	interval := 10 * time.Second
	if p.tty {
		interval = 100 * time.Millisecond
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		last := false
		select {
		case <-tick.C:
		case <-p.quit:
			last = true
		}
		p.print(interval, last)
		if last {
			return
		}
	}
}

func (p *display) print(interval time.Duration, last bool) {
	columns, rows := 0, 0
	if p.tty {
		columns, rows = p.talk.size()
	}
	lines := p.lines(columns, rows, interval, last)
	if p.tty {
		p.talk.draw(lines, last)
		return
	}
	fmt.Fprintln(p.talk, strings.Join(lines, "\n"))
}

// lines are the lines in at most columns-1 columns each, so that none is broken; 0 means no
// limit. A name takes half of a line at most.
func (p *display) lines(columns, rows int, interval time.Duration, last bool) (lines []string) {
	for _, b := range p.bars(rows) {
		b.measure(p.Start, interval, last)
		name, space := b.name, 0
		if columns > 0 {
			name = screen.Cut(name, columns/2)
			space = columns - screen.Width(name)
		}
		lines = append(lines, name+b.snapshot(&p.Load).line(space))
	}
	return lines
}

// measure takes the rate of tokens: in the last seconds, or in the end of the whole load.
func (b *bar) measure(start time.Time, interval time.Duration, last bool) {
	since := func(from time.Time, chunks int64) float64 {
		return float64(b.count().Chunks-chunks) / time.Since(from).Seconds()
	}
	if time.Since(b.from) >= min(tokenWindow, 20*interval) {
		b.rate, b.recent = since(b.from, b.chunks), true
		b.from, b.chunks = time.Now(), b.count().Chunks
	}
	if !b.recent || last {
		b.rate = since(start, 0)
	}
}

// count is what happened so far.
func (b *bar) count() (c engine.Count) {
	for _, l := range b.live {
		c = c.Plus(l.Now())
	}
	return c
}

func (b *bar) snapshot(l *Load) snapshot {
	c := b.count()
	s := snapshot{
		elapsed: time.Since(l.Start), total: b.total, until: l.Until, began: l.Began, rate: b.rate, ttft: c.MeanTTFT(),
		ended: int(max(0, c.Ended-c.Warmed)), running: int(c.InFlight()), failed: int(c.Failed),
	}
	if c.LaterTurns() {
		s.ended, s.sessions = int(max(0, c.SessionsOver-c.SessionsWarmed)), int(c.SessionsRunning())
	}
	return s
}

// A snapshot is what one line of progress shows.
type snapshot struct {
	elapsed      time.Duration
	ended, total int           // requests, or sessions if they have later turns
	until        time.Duration // instead of the total; 0 with a total
	began        time.Duration // when the first measured request may be sent
	running      int
	sessions     int // that are running; 0 if they have no later turns
	failed       int
	rate         float64 // chunks a second, which are tokens on most servers
	ttft         time.Duration
}

// line is the snapshot in at most columns characters; 0 means no limit.
func (s snapshot) line(columns int) string {
	done := 1.0
	if s.total > 0 {
		done = float64(s.ended) / float64(s.total)
	}
	remaining, speed := "?", "?it/s"
	if s.ended > 0 && s.elapsed > s.began {
		perSecond := float64(s.ended) / (s.elapsed - s.began).Seconds()
		remaining = clock(time.Duration(float64(max(0, s.total-s.ended)) / perSecond * float64(time.Second)))
		if speed = fmt.Sprintf("%.2fit/s", perSecond); perSecond < 1 {
			speed = fmt.Sprintf("%.2fs/it", 1/perSecond)
		}
	}
	of := fmt.Sprintf("%d/%d", s.ended, s.total)
	if s.until > 0 {
		of, done = fmt.Sprint(s.ended), s.elapsed.Seconds()/s.until.Seconds()
		remaining = clock(max(0, s.until-s.elapsed))
	}
	done = max(0, min(1, done))
	left := fmt.Sprintf("%3.0f%%|", 100*done)
	right := fmt.Sprintf("| %s [%s<%s, %s", of, clock(s.elapsed), remaining, speed)
	room := columns - 1 - len(left) - len("]") - minBar
	for _, field := range s.fields() {
		if columns == 0 || len(right)+len(field) <= room {
			right += field
		}
	}
	right += "]"
	width := 10
	if columns > 0 {
		width = min(40, columns-1-len(left)-len(right))
	}
	line := left + cells(done, width) + right
	if columns > 0 && width < 0 {
		return screen.Cut(line, columns-1)
	}
	return line
}

// minBar is the width below which the bar is kept and a field dropped.
const minBar = 4

// fields are what follows tqdm's fields, the most important first.
func (s snapshot) fields() []string {
	running := fmt.Sprintf(", running=%d", s.running)
	if s.sessions > 0 {
		running += fmt.Sprintf(", sessions=%d", s.sessions)
	}
	fields := []string{running, fmt.Sprintf(", failed=%d", s.failed)}
	latency := []string{fmt.Sprintf(", tok/s=%.0f", s.rate), ", TTFT=" + millis(s.ttft)}
	if s.ttft == 0 && s.ended > s.failed {
		latency = nil // the answers come whole
	}
	if s.failed > 0 {
		return append(fields, latency...)
	}
	return append(append(fields[:1:1], latency...), fields[1])
}

// millis is a latency to the millisecond, or ? before there is one.
func millis(d time.Duration) string {
	if d == 0 {
		return "?"
	}
	return fmt.Sprintf("%.0fms", d.Seconds()*1e3)
}

// clock is tqdm's time: 00:11, 1:02:03.
func clock(d time.Duration) string {
	s := int(max(0, d).Seconds())
	if s < 3600 {
		return fmt.Sprintf("%02d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// cells is a bar of so many cells, filled to eighths of a cell.
func cells(done float64, width int) string {
	if width <= 0 {
		return ""
	}
	eighths := int(math.Round(done * float64(width) * 8))
	full, part := eighths/8, eighths%8
	s := strings.Repeat("█", full)
	if part > 0 {
		s += string([]rune(" ▏▎▍▌▋▊▉")[part])
		full++
	}
	return s + strings.Repeat(" ", width-full)
}
