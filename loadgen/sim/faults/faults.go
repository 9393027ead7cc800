// Package faults has the ways in which a simulated server misbehaves on request: their names, and which
// requests they meet.
//
// A Plan is the server's, the header of a request overrides it, and a Choice is what one request meets.
package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Header is the request header that selects faults for that request, in the syntax of Parse. It overrides
// the server's Plan; "none" selects no fault.
const Header = "X-Sim-Fault"

// A Fault is one way to misbehave. Kind is a name in the table of Help, N its argument.
type Fault struct {
	Kind string
	N    int
}

// A kind is a row of the table of faults. One with most 0 takes no argument.
type kind struct {
	name        string
	least, most int // of the argument
	otherwise   int // the argument if none is given
	help        string
}

const many = 1 << 30

// kinds has every way to misbehave. A chunk is an event with choices.
var kinds = []kind{
	{"refuse", 0, 0, 0, "close the connection without a reply"},
	{"never", 0, 0, 0, "never answer"},
	{"status", 400, 599, 500, "reply with status N and a JSON error, with Retry-After on 429 and 503"},
	{"html", 400, 599, 502, "reply with status N and an HTML page, as a proxy does"},
	{"blank", 400, 599, 503, "reply with status N and no body"},
	{"empty", 0, 0, 0, "end the stream before its first event"},
	{"error", 0, many, 1, `after N chunks send {"error":{…}} and [DONE]`},
	{"error-flat", 0, many, 1, `after N chunks send {"object":"error",…} and [DONE]`},
	{"cut", 0, many, 1, "after N chunks send half an event and abort the connection"},
	{"truncate", 0, many, 1, "after N chunks end the reply as if it were complete"},
	{"stall", 0, many, 1, "after N chunks send nothing more and keep the connection"},
	{"endless", 0, many, 1, "after N chunks send the next one again and again, until the client goes"},
	{"huge-event", 1, 4096, 64, "after the first chunk send an event of N MiB"},
	{"garbage", 0, many, 1, "after N chunks send an event that is neither JSON nor UTF-8, and [DONE]"},
	{"tokens", 2, many, 4, "put N tokens in a chunk"},
	{"answer", 1, many, 1, "answer with N tokens and finish reason stop, whatever was asked for"},
	{"no-done", 0, 0, 0, "leave [DONE] out"},
	{"crlf", 0, 0, 0, "end lines with CR LF"},
	{"cr", 0, 0, 0, "end lines with CR"},
	{"comment", 0, 0, 0, "send the comment \": ping\" before each event"},
	{"event-line", 0, 0, 0, "begin each event with an event: line"},
	{"multi-line", 0, 0, 0, "break each event's data into two data: lines"},
	{"no-space", 0, 0, 0, "leave out the space after data:"},
	{"split", 2, 1000, 3, "send what is due in N writes, cut anywhere"},
	{"merge", 2, many, 3, "hold events back until N go in one write"},
	{"usage-zero", 0, 0, 0, "put a usage of zeros in each chunk"},
	{"usage-null", 0, 0, 0, "put a usage of null in each chunk"},
	{"usage-in-finish", 0, 0, 0, "put the usage in the chunk with the finish reason"},
}

// Names returns the name of each kind of fault.
func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Help returns an entry for each kind of fault, in lines of at most 80 columns.
func Help() string {
	var b strings.Builder
	for _, k := range kinds {
		name, help := k.name, k.help
		if k.most > 0 {
			name, help = name+"[=N]", fmt.Sprintf("%s (default %d)", help, k.otherwise)
		}
		column := 0
		fmt.Fprintf(&b, "%-16s", name)
		for i, word := range strings.Fields(help) {
			if column += 1 + len(word); i == 0 || column > 80 {
				if column = 17 + len(word); i > 0 {
					b.WriteString("\n" + strings.Repeat(" ", 16))
				}
			}
			b.WriteString(" " + word)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Parse reads kinds separated by commas, some with an argument, as in "stall=3,crlf". Both
// "none" and the empty text mean no faults.
func Parse(text string) ([]Fault, error) {
	if text == "none" || text == "" {
		return nil, nil
	}
	var faults []Fault
	for item := range strings.SplitSeq(text, ",") {
		name, arg, given := strings.Cut(strings.TrimSpace(item), "=")
		f := Fault{Kind: name}
		if given {
			n, err := strconv.Atoi(arg)
			if err != nil {
				return nil, fmt.Errorf("fault %s: %q is not a number", name, arg)
			}
			f.N = n
		} else if k := slices.IndexFunc(kinds, f.is); k >= 0 {
			f.N = kinds[k].otherwise
		}
		if err := f.check(); err != nil {
			return nil, err
		}
		faults = append(faults, f)
	}
	return faults, nil
}

func (f Fault) is(k kind) bool { return k.name == f.Kind }

func (f Fault) check() error {
	i := slices.IndexFunc(kinds, f.is)
	if i < 0 {
		return fmt.Errorf("there is no fault %q", f.Kind)
	}
	if k := kinds[i]; f.N < k.least || f.N > k.most {
		if k.most == 0 {
			return fmt.Errorf("fault %s takes no number", f.Kind)
		}
		return fmt.Errorf("fault %s: %d must be from %d to %d", f.Kind, f.N, k.least, k.most)
	}
	return nil
}
