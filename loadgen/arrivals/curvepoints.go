package arrivals

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// points turns points into the legs of a curve as they are added.
type points struct {
	*Curve
	steps    bool // each rate lasts until the next point
	n        int
	at, rate float64 // of the last point
}

func (p *points) add(timeText, rateText string) error {
	at, err := parseTime(timeText)
	if err != nil {
		return err
	}
	rate, err := parseRate(rateText)
	switch {
	case err != nil:
		return err
	case p.n == 0 && at != 0:
		return fmt.Errorf("%s: the first time must be 0", timeText)
	case p.n > 0 && at-p.at < shortest:
		return fmt.Errorf("%s: times must increase", timeText)
	case p.n > 0:
		end := rate
		if p.steps {
			end = p.rate
		}
		if err := p.Curve.add(at, p.rate, end); err != nil {
			return err
		}
		p.last = rate
	}
	p.n, p.at, p.rate = p.n+1, at, rate
	return nil
}

func (p *points) end() error {
	if p.n < 2 {
		return errors.New("it needs two points or more")
	}
	return nil
}

func (c *Curve) readPoints(text string, steps bool) error {
	p := points{Curve: c, steps: steps}
	for point := range strings.SplitSeq(text, ",") {
		at, rate, ok := strings.Cut(point, "=")
		if !ok {
			return fmt.Errorf("%q: a point is TIME=RATE, as in 20s=5", point)
		}
		if err := p.add(at, rate); err != nil {
			return err
		}
	}
	return p.end()
}

func (c *Curve) readFile(name string, steps bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.readCSV(name, f, steps)
}

// readCSV treats the first line as a header if it does not begin with a time.
func (c *Curve) readCSV(name string, r io.Reader, steps bool) error {
	rows := csv.NewReader(r)
	rows.Comment, rows.FieldsPerRecord, rows.TrimLeadingSpace = '#', -1, true
	p := points{Curve: c, steps: steps}
	for first := true; ; first = false {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			return fmt.Errorf("%s:%d: %w", name, wrong.Line, wrong.Err)
		} else if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if _, err := parseTime(row[0]); first && err != nil {
			continue
		}
		if err := p.addRow(row); err != nil {
			line, _ := rows.FieldPos(0)
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if err := p.end(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (p *points) addRow(row []string) error {
	if len(row) != 2 {
		return fmt.Errorf("it must have two columns, seconds and rate, and has %d", len(row))
	}
	return p.add(row[0], row[1])
}
