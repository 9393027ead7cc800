package comparison

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/servebench/servebench/metrics/compare"
)

// A junitSuite is a testsuite as CI systems read it: a case for each gated number,
// and one for the verdict.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
	Out      string      `xml:"system-out,omitempty"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Skipped *junitProblem `xml:"skipped"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// inJUnit writes a comparison as JUnit XML. NO VERDICT is an error, since CI systems count
// a skipped case as success.
func inJUnit(w io.Writer, c *compare.Comparison) error {
	suite := junitSuite{Name: "servebench compare"}
	for i := range c.Points {
		p := &c.Points[i]
		class := strings.TrimSpace("servebench " + p.Name())
		for _, r := range p.Rows {
			if !r.Judgement.Gated && r.Judgement.Finding == "" {
				continue
			}
			test := junitCase{Class: class, Name: r.Number.Name}
			finding := string(r.Judgement.Finding)
			problem := &junitProblem{Message: finding, Text: strings.TrimSpace(fmt.Sprintf("%s → %s %s, %s %s",
				r.Number.Text(r.Effect.From), r.Number.Text(r.Effect.To), r.Number.Unit,
				compare.Percent(r.Effect.Share), r.Effect.Interval(compare.Percent)))}
			switch {
			case r.Judgement.Finding == compare.Worse:
				test.Failure = problem
			case r.Judgement.Finding == compare.Blurred:
				test.Error = problem
			case !c.Judged || r.Judgement.Unjudged:
				problem.Message = "no verdict on it"
				test.Skipped = problem
			}
			suite.add(test)
		}
	}
	verdict := junitCase{Class: "servebench", Name: "verdict"}
	problem := &junitProblem{Message: ruling(c), Text: strings.Join(c.Reasons, "\n")}
	switch c.Verdict {
	case compare.Regressed:
		verdict.Failure = problem
	case compare.NoVerdict:
		verdict.Error = problem
	}
	suite.add(verdict)
	suite.Out = strings.Join(append([]string{outcome(c)}, c.Notes...), "\n")
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Error != nil {
		s.Errors++
	}
}
