// Package progress shows a load on a terminal while it goes on, in tqdm's shape.
package progress

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/servebench/servebench/loadgen/engine"
)

// A Load is what there is to show.
type Load struct {
	// Start is when the clock of the run started.
	Start time.Time

	// Began is from when on measured requests are sent: a delay and a warm-up go before.
	Began time.Duration

	// Total is how many requests there are.
	Total int

	// Until is when the last is sent, where Total does not say; 0 where it does.
	Until time.Duration

	// Live counts what each target's part of it is doing.
	Live []*engine.Live
}

// A display is one line that is rewritten ten times a second on a terminal, and a plain
// line every ten seconds elsewhere.
type display struct {
	Load
	w    io.Writer
	tty  bool
	quit chan struct{}
	done chan struct{}
}

// tokenWindow is the time over which live tokens a second are taken.
const tokenWindow = 2 * time.Second

// Show shows a load on w until over is called, which leaves a last line.
func Show(w io.Writer, l Load) (over func()) {
	return (&display{Load: l, w: w, tty: onTerminal(w)}).show()
}

func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// show starts the display; the returned func ends it, with a last line.
func (p *display) show() (stop func()) {
	p.quit, p.done = make(chan struct{}), make(chan struct{})
	go p.loop()
	return func() {
		close(p.quit)
		<-p.done
	}
}

func (p *display) loop() {
	defer close(p.done)
	interval := 10 * time.Second
	if p.tty {
		interval = 100 * time.Millisecond
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	from, chunks, recent := p.Start, int64(0), false
	var rate float64
	for {
		select {
		case <-tick.C:
		case <-p.quit:
			p.print(p.rateSince(p.Start, 0), true)
			return
		}
		if time.Since(from) >= min(tokenWindow, 20*interval) {
			rate, recent = p.rateSince(from, chunks), true
			from, chunks = time.Now(), p.count().Chunks
		}
		if !recent {
			rate = p.rateSince(p.Start, 0)
		}
		p.print(rate, false)
	}
}

// Aside says something while there may be a line of progress.
func Aside(w io.Writer, format string, args ...any) {
	if onTerminal(w) {
		fmt.Fprintln(w) // leaves that line
	}
	fmt.Fprintf(w, format+"\n", args...)
}

// count is that of all loads together.
func (p *display) count() engine.Count { return together(p.Live) }

// rateSince is the chunks a second since a moment at which there were so many.
func (p *display) rateSince(from time.Time, chunks int64) float64 {
	return float64(p.count().Chunks-chunks) / time.Since(from).Seconds()
}

func (p *display) print(rate float64, last bool) {
	c := p.count()
	s := snapshot{
		elapsed: time.Since(p.Start), total: p.Total, until: p.Until, began: p.Began, rate: rate, ttft: c.MeanTTFT(),
		ended: int(c.Ended - c.Warmed), running: int(c.InFlight()), failed: int(c.Failed),
	}
	switch {
	case !p.tty:
		fmt.Fprintln(p.w, s.line(0))
	case last:
		fmt.Fprintf(p.w, "\r\x1b[K%s\n", s.line(columns()))
	default:
		fmt.Fprintf(p.w, "\r\x1b[K%s", s.line(columns()))
	}
}

// together is the count of several loads.
func together(live []*engine.Live) (c engine.Count) {
	for _, l := range live {
		c = c.Plus(l.Now())
	}
	return c
}

// A snapshot is what one line of progress shows.
type snapshot struct {
	elapsed      time.Duration
	ended, total int
	until        time.Duration // in place of the total; 0 with one
	began        time.Duration // when the first measured request may be sent
	running      int
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
		remaining = clock(time.Duration(float64(s.total-s.ended) / perSecond * float64(time.Second)))
		if speed = fmt.Sprintf("%.2fit/s", perSecond); perSecond < 1 {
			speed = fmt.Sprintf("%.2fs/it", 1/perSecond)
		}
	}
	of := fmt.Sprintf("%d/%d", s.ended, s.total)
	if s.until > 0 {
		of, done = fmt.Sprint(s.ended), min(1, s.elapsed.Seconds()/s.until.Seconds())
		remaining = clock(max(0, s.until-s.elapsed))
	}
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
	line := left + bar(done, width) + right
	if columns > 0 && width < 0 {
		return line[:max(0, min(len(line), columns-1))]
	}
	return line
}

// minBar is the width under which the bar is rather kept than a field.
const minBar = 4

// fields are what follows tqdm's own, the most wanted first.
func (s snapshot) fields() []string {
	fields := []string{fmt.Sprintf(", running=%d", s.running), fmt.Sprintf(", failed=%d", s.failed)}
	latency := []string{fmt.Sprintf(", tok/s=%.0f", s.rate), ", TTFT=" + millis(s.ttft)}
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
	s := int(d.Seconds())
	if s < 3600 {
		return fmt.Sprintf("%02d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// bar is a bar of width cells, filled to eighths of a cell.
func bar(done float64, width int) string {
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

// columns is the width of the terminal on stderr, 80 when it does not say.
func columns() int {
	if width, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}
