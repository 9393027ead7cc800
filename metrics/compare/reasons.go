package compare

import (
	"fmt"
	"slices"
)

// reasons are the grounds of a verdict, in words. Those about one of several loads name it.
type reasons struct {
	bad   []string // to call it regressed
	open  []string // for no verdict
	notes []string // what else a reader should know
}

func (s *reasons) regress(p *Point, format string, args ...any) {
	s.bad = append(s.bad, p.named(fmt.Sprintf(format, args...)))
}

func (s *reasons) doubt(p *Point, format string, args ...any) {
	s.open = append(s.open, p.named(fmt.Sprintf(format, args...)))
}

// advise notes once what would help to reach a verdict.
func (s *reasons) advise(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

func (s *reasons) note(p *Point, format string, args ...any) {
	s.notes = append(s.notes, p.named(fmt.Sprintf(format, args...)))
}

// named puts the point's name before a text if there are several points.
func (p *Point) named(text string) string {
	if p == nil || p.Load == nil {
		return text
	}
	return p.Name() + ": " + text
}
