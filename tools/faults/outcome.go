package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// An Outcome is the result of a run.
type Outcome struct {
	Exit           int // -1 if it was killed
	Stdout, Stderr string

	Sent   []Request // requests in its stream
	Result Result

	dir string
}

// A Request is a line of the record stream.
type Request struct {
	Kind  string `json:"k"`
	Out   int    `json:"out"`
	Class string `json:"class"`
	Error string `json:"error"`
}

// A Result is the part of the result file that cases use. It is zero without a file.
type Result struct {
	Completed int     `json:"completed"`
	MeanTTFT  float64 `json:"mean_ttft_ms"`
	MeanITL   float64 `json:"mean_itl_ms"`
	MedianITL float64 `json:"median_itl_ms"`
	Duration  float64 `json:"duration"`
	Output    int     `json:"total_output_tokens"`
	Truth     struct {
		Opened int `json:"opened_connections"`
	} `json:"truth"`
	Trust struct {
		Verdict string
		Checks  []Check
	} `json:"trust"`
}

// A Check is one check of the verdict.
type Check struct {
	Name string
	OK   bool
	Text string
}

// read reads the files that the run left.
func (o *Outcome) read(s *Stage) error {
	text, err := os.ReadFile(s.stream())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range bytes.Lines(text) {
		var r Request
		// A killed run may leave half a line.
		if err := json.Unmarshal(line, &r); err == nil && r.Kind == "req" {
			o.Sent = append(o.Sent, r)
		}
	}
	text, err = os.ReadFile(s.path("result.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return json.Unmarshal(text, &o.Result)
}

// begun reports whether the run got as far as its load.
func (o *Outcome) begun() bool { return o.Result.Trust.Verdict != "" || len(o.Sent) > 0 }

// completed is the number of answered requests, from the result file if there is no stream.
func (o *Outcome) completed() int {
	if len(o.Sent) == 0 {
		return o.Result.Completed
	}
	n := 0
	for _, r := range o.Sent {
		if r.Class == "" {
			n++
		}
	}
	return n
}

// failures counts failed requests by class.
func (o *Outcome) failures() map[string]int {
	classes := map[string]int{}
	for _, r := range o.Sent {
		if r.Class != "" {
			classes[r.Class]++
		}
	}
	return classes
}

// accusations are the names of the checks that failed and are neither about the machine nor
// excused, in alphabetical order.
func (o *Outcome) accusations(excused []string) []string {
	var names []string
	for _, c := range o.Result.Trust.Checks {
		if !c.OK && !slices.Contains(ofMachine, c.Name) && !slices.Contains(excused, c.Name) {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

// disturbed reports whether this machine disturbed the run.
func (o *Outcome) disturbed() bool {
	return slices.ContainsFunc(o.Result.Trust.Checks,
		func(c Check) bool { return !c.OK && slices.Contains(standstill, c.Name) })
}

// talk is stderr with line ends as single spaces.
func (o *Outcome) talk() string { return strings.Join(strings.Fields(o.Stderr), " ") }

// short returns an error if answers are not complete.
func (o *Outcome) short() error {
	for _, r := range o.Sent {
		if r.Class == "" && r.Out != outputLen {
			return fmt.Errorf("an answer counts %d tokens, not %d", r.Out, outputLen)
		}
	}
	return nil
}

var (
	port     = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	resolver = regexp.MustCompile(` on \S+:53\b`)
	figure   = regexp.MustCompile(`\d+(\.\d+)?( ms)? %|\d+(\.\d+)? (ms|s)\b`)
)

// plain is text without what changes from run to run.
func (o *Outcome) plain(text string) string {
	text = strings.ReplaceAll(text, o.dir+"/", "")
	text = port.ReplaceAllString(text, "127.0.0.1:PORT")
	return resolver.ReplaceAllString(text, "")
}

// says is what servebench said, in Markdown, without figures that vary.
func (o *Outcome) says(w *Want) string {
	var said []string
	for _, class := range slices.Sorted(maps.Keys(o.failures())) {
		said = append(said, fmt.Sprintf("`%s` ×%d: %s", class, o.failures()[class], quote(o.plain(o.message(class)))))
	}
	var suspect []string
	for _, c := range o.Result.Trust.Checks {
		// The head of the page explains failed requests for all rows.
		if slices.Contains(w.Suspect, c.Name) && c.Name != "failed" && c.Name != "completed" {
			suspect = append(suspect, figure.ReplaceAllString(c.Text, "…"))
		}
	}
	if suspect != nil {
		said = append(said, "SUSPECT: "+strings.Join(suspect, "; "))
	}
	if w.Says != "" {
		said = append(said, "… "+quote(w.Says))
	}
	switch {
	case o.Exit > 0 && len(o.Sent) > 0:
		said = append(said, fmt.Sprintf("exit code %d", o.Exit))
	case o.Exit > 0:
		said = append(said, fmt.Sprintf("exit code %d: %s", o.Exit, quote(o.plain(o.parting()))))
	}
	if said == nil {
		return "nothing"
	}
	return strings.Join(said, "<br>")
}

// message is the most frequent message in a class, the first by name if several have as many.
func (o *Outcome) message(class string) string {
	counts := map[string]int{}
	for _, r := range o.Sent {
		if r.Class == class {
			counts[r.Error]++
		}
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b string) int { return counts[a] - counts[b] })
}

// parting is the last line of stderr, the reason for its exit code.
func (o *Outcome) parting() string {
	lines := strings.Split(strings.TrimSpace(o.Stderr), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "servebench: ")
}
