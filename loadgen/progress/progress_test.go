package progress

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/report/screen"
)

func TestProgressLineHasTqdmsShape(t *testing.T) {
	for _, test := range []struct {
		s       snapshot
		columns int
		want    string
	}{
		{snapshot{elapsed: 11707 * time.Millisecond, ended: 200, total: 200, rate: 812.4, ttft: 52 * time.Millisecond}, 0,
			"100%|██████████| 200/200 [00:11<00:00, 17.08it/s, running=0, tok/s=812, TTFT=52ms, failed=0]"},
		{snapshot{elapsed: 3 * time.Second, total: 200, running: 16, rate: 40}, 0,
			"  0%|          | 0/200 [00:03<?, ?it/s, running=16, tok/s=40, TTFT=?, failed=0]"},
		{snapshot{elapsed: 4000 * time.Second, ended: 5, failed: 2, total: 40, ttft: time.Second}, 0,
			" 12%|█▎        | 5/40 [1:06:40<7:46:40, 800.00s/it, running=0, failed=2, tok/s=0, TTFT=1000ms]"},
		{snapshot{elapsed: 11707 * time.Millisecond, ended: 200, total: 200, rate: 1812.4, ttft: 52 * time.Millisecond}, 80,
			"100%|██████| 200/200 [00:11<00:00, 17.08it/s, running=0, tok/s=1812, TTFT=52ms]"},
		{snapshot{elapsed: 3 * time.Second, total: 200, running: 16, rate: 40}, 30,
			"  0%|| 0/200 [00:03<?, ?it/s]"},
		{snapshot{elapsed: 3 * time.Second, until: 12 * time.Second, ended: 6, running: 2, rate: 40, ttft: time.Second}, 0,
			" 25%|██▌       | 6 [00:03<00:09, 2.00it/s, running=2, tok/s=40, TTFT=1000ms, failed=0]"},
		{snapshot{elapsed: 13 * time.Second, until: 12 * time.Second, total: math.MaxInt, ended: 26, rate: 40, ttft: time.Second}, 0,
			"100%|██████████| 26 [00:13<00:00, 2.00it/s, running=0, tok/s=40, TTFT=1000ms, failed=0]"},
		// Embeddings have no first token.
		{snapshot{elapsed: 4 * time.Second, ended: 20, failed: 1, total: 40, rate: 5}, 0,
			" 50%|█████     | 20/40 [00:04<00:04, 5.00it/s, running=0, failed=1]"},
		// The last requests may end a moment before the time is over.
		{snapshot{elapsed: 11994 * time.Millisecond, until: 12 * time.Second, ended: 24, rate: 40, ttft: time.Second}, 0,
			"100%|██████████| 24 [00:11<00:00, 2.00it/s, running=0, tok/s=40, TTFT=1000ms, failed=0]"},
		{snapshot{elapsed: 4 * time.Second, ended: 2, total: 8, running: 3, sessions: 5, rate: 40, ttft: time.Second}, 0,
			" 25%|██▌       | 2/8 [00:04<00:12, 2.00s/it, running=3, sessions=5, tok/s=40, TTFT=1000ms, failed=0]"},
		// A warm-up of 10 s says nothing of how long the rest takes.
		{snapshot{elapsed: 15 * time.Second, began: 10 * time.Second, ended: 10, total: 40, rate: 40, ttft: time.Second}, 0,
			" 25%|██▌       | 10/40 [00:15<00:15, 2.00it/s, running=0, tok/s=40, TTFT=1000ms, failed=0]"},
	} {
		if got := test.s.line(test.columns); got != test.want {
			t.Errorf("%+v\n got %q\nwant %q", test.s, got, test.want)
		}
	}
}

func TestProgressLineFitsTheTerminal(t *testing.T) {
	s := snapshot{elapsed: time.Minute, ended: 77, total: 200, running: 100, rate: 12345, ttft: time.Second}
	for columns := 1; columns < 200; columns++ {
		if n := utf8.RuneCountInString(s.line(columns)); n >= columns && columns > 1 {
			t.Errorf("%d characters on a terminal of %d columns", n, columns)
		}
	}
}

// A line counts sessions once a session has gone on after its first request. The warm-up does not
// count.
func TestProgressCountsSessions(t *testing.T) {
	l := load(8)
	live := l.Targets[0].Live
	for _, step := range []struct {
		count       *atomic.Int64
		n           int64
		ended, here int
	}{
		{&live.Sessions, 5, 0, 0}, {&live.Sent, 5, 0, 0}, {&live.Ended, 3, 3, 0}, {&live.Sent, 1, 0, 5},
		{&live.SessionsOver, 2, 2, 3}, {&live.SessionsWarmed, 1, 1, 3},
	} {
		step.count.Add(step.n)
		b := &bar{total: 8, live: []*engine.Live{live}}
		if s := b.snapshot(&l); s.ended != step.ended || s.sessions != step.here {
			t.Errorf("%+v: %d ended and %d sessions, want %d and %d", live.Now(), s.ended, s.sessions, step.ended, step.here)
		}
	}
}

// load is of a target for each total.
func load(totals ...int) Load {
	l := Load{Start: time.Now()}
	for i, total := range totals {
		l.Targets = append(l.Targets, Target{Name: []string{"a", "long"}[i%2], Total: total, Live: new(engine.Live)})
	}
	return l
}

func TestProgressElsewhereThanOnATerminalIsAPlainLineEveryTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := load(3)
		l.Targets[0].Live.Sent.Add(2)
		stop := Show(NewTalk(&out), l)
		time.Sleep(25 * time.Second)
		stop()
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != 3 || !strings.Contains(lines[0], "0/3 [00:10<?") || !strings.Contains(lines[0], "running=2") || strings.ContainsAny(out.String(), "\r\x1b") {
			t.Errorf("got %q", out.String())
		}
	})
}

// Several targets have a line each. Text that comes meanwhile stands above the lines that
// are rewritten after it.
func TestEachTargetHasALineOfProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		talk := NewTalk(&out)
		drawn := func() string { // which is written under the lock
			talk.mu.Lock()
			defer talk.mu.Unlock()
			return out.String()
		}
		l := load(3, 5)
		l.Targets[1].Live.Sent.Add(4)
		p := &display{Load: l, talk: talk, tty: true}
		stop := p.show()
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		first := drawn()
		if !strings.HasPrefix(first, "\r\x1b[Ka:      0%|") || strings.Count(first, "\n") != 1 || !strings.Contains(first, "\n\r\x1b[Klong:   0%|") ||
			!strings.Contains(first, "0/5 [00:00<?, ?it/s, running=4") {
			t.Errorf("drawn: %q", first)
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if again := drawn()[len(first):]; !strings.HasPrefix(again, "\x1b[1A\r\x1b[Ka: ") {
			t.Errorf("drawn again: %q", again)
		}
		before := len(drawn())
		fmt.Fprintln(talk, "interrupted")
		stop()
		if rest := out.String()[before:]; !strings.HasPrefix(rest, "\ninterrupted\n\r\x1b[Ka: ") || !strings.HasSuffix(rest, "]\n") {
			t.Errorf("after text: %q", rest)
		}
	})
}

// Where the lines would scroll away there is one for all targets.
func TestTooManyTargetsShareALine(t *testing.T) {
	totals := make([]int, 24)
	for i := range totals {
		totals[i] = 2
	}
	p := &display{Load: load(totals...), talk: NewTalk(new(strings.Builder)), tty: true}
	p.divide()
	if bars := p.bars(24); len(bars) != 1 || bars[0].total != 48 || bars[0].name != "" || len(bars[0].live) != 24 {
		t.Errorf("%d lines, the first of %+v", len(bars), bars[0])
	}
	if bars := p.bars(25); len(bars) != 24 {
		t.Errorf("%d lines on a terminal that has become higher", len(bars))
	}
}

// A line as wide as the terminal would break, and the lines above it would scroll away.
func TestLinesWithNamesFitTheTerminal(t *testing.T) {
	l := load(3, 5)
	l.Targets[0].Name, l.Targets[1].Name = strings.Repeat("n", 50), "日本語のターゲット"
	p := &display{Load: l, talk: NewTalk(new(strings.Builder)), tty: true}
	p.divide()
	for columns := 2; columns < 200; columns++ {
		for _, line := range p.lines(columns, 24, time.Second, false) {
			if n := screen.Width(line); n >= columns {
				t.Errorf("%d columns on a terminal of %d: %q", n, columns, line)
			}
		}
	}
}

// On a terminal that has become lower, one line takes the place of several.
func TestFewerLinesLeaveNoneOfTheOthers(t *testing.T) {
	var out strings.Builder
	talk := NewTalk(&out)
	talk.draw([]string{"a", "b", "c"}, false)
	out.Reset()
	talk.draw([]string{"all"}, false)
	if got := out.String(); got != "\x1b[2A\r\x1b[J\r\x1b[Kall" {
		t.Errorf("%q", got)
	}
}

func TestProgressStaysBetweenNothingAndAll(t *testing.T) {
	for want, s := range map[string]snapshot{
		"100%|██████████| 105/100 [00:10<00:00, 10.50it/s, running=0, failed=0]":        {elapsed: 10 * time.Second, ended: 105, total: 100},
		"  0%|          | 0 [00:00<00:12, ?it/s, running=0, tok/s=0, TTFT=?, failed=0]": {elapsed: -2 * time.Second, until: 10 * time.Second},
	} {
		if got := s.line(0); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}

// Text from outside cannot command the terminal, but text with Tones has its colours.
func TestTextIsClean(t *testing.T) {
	var out strings.Builder
	talk := NewTalk(&out)
	if NewTalk(talk) != talk {
		t.Error("a Talk on a Talk is another one")
	}
	fmt.Fprint(talk, "a\tmodel\x1b[31m\x07\x9b\u202e\r\n")
	err := screen.Screen{Width: 80, Color: true}.Write(talk, screen.Line{{Text: "red\x1b[0m", Tone: screen.Bad}})
	if want := "a\tmodel�[31m����\n\x1b[1;31mred�[0m\x1b[0m\n"; out.String() != want || err != nil {
		t.Errorf("%q, want %q, %v", out.String(), want, err)
	}
}
