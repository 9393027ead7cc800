package sim

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/servebench/servebench/loadgen/sim/steps"
)

// FaultHeader is the request header that selects faults for that request, in the syntax of
// ParseFaults. It overrides Config.Faults; "none" selects no fault.
const FaultHeader = "X-Sim-Fault"

// A Fault is one way to misbehave. Kind is a name in the table of FaultHelp, N its argument.
type Fault struct {
	Kind string
	N    int
}

// Faults says when to misbehave and how. Without Probability and Every, the faults apply to all
// requests.
type Faults struct {
	List        []Fault
	Probability float64 // chance to apply to a request, drawn from the seed and its number
	Every       int     // they apply to requests number Every-1, 2·Every-1, …
}

// A faultKind is a row of the table of faults. One with most 0 takes no argument.
type faultKind struct {
	name        string
	least, most int // of the argument
	otherwise   int // the argument if none is given
	help        string
}

const many = 1 << 30

// faultKinds has every way to misbehave. A chunk is an event with choices.
var faultKinds = []faultKind{
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

// FaultNames returns the name of each kind of fault.
func FaultNames() (names []string) {
	for _, k := range faultKinds {
		names = append(names, k.name)
	}
	return names
}

// FaultHelp returns an entry for each kind of fault, in lines of at most 80 columns.
func FaultHelp() string {
	var b strings.Builder
	for _, k := range faultKinds {
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

// ParseFaults reads kinds separated by commas, some with an argument, as in "stall=3,crlf". Both
// "none" and the empty text mean no faults.
func ParseFaults(text string) ([]Fault, error) {
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
		} else if k := slices.IndexFunc(faultKinds, f.is); k >= 0 {
			f.N = faultKinds[k].otherwise
		}
		if err := f.check(); err != nil {
			return nil, err
		}
		faults = append(faults, f)
	}
	return faults, nil
}

func (f Fault) is(k faultKind) bool { return k.name == f.Kind }

func (f Fault) check() error {
	i := slices.IndexFunc(faultKinds, f.is)
	if i < 0 {
		return fmt.Errorf("there is no fault %q", f.Kind)
	}
	if k := faultKinds[i]; f.N < k.least || f.N > k.most {
		if k.most == 0 {
			return fmt.Errorf("fault %s takes no number", f.Kind)
		}
		return fmt.Errorf("fault %s: %d must be from %d to %d", f.Kind, f.N, k.least, k.most)
	}
	return nil
}

func (f *Faults) check() error {
	if f.Probability < 0 || f.Probability > 1 {
		return fmt.Errorf("the probability of faults must be from 0 to 1")
	}
	if f.Every < 0 {
		return fmt.Errorf("faults cannot meet every %d requests", f.Every)
	}
	for _, fault := range f.List {
		if err := fault.check(); err != nil {
			return err
		}
	}
	return nil
}

// misdeeds are the faults chosen for one request.
type misdeeds []Fault

// with reports whether a kind of fault was chosen, and its argument.
func (m misdeeds) with(kind string) (n int, chosen bool) {
	for _, f := range m {
		if f.Kind == kind {
			return f.N, true
		}
	}
	return 0, false
}

func (m misdeeds) has(kind string) bool {
	_, chosen := m.with(kind)
	return chosen
}

// A chooser chooses the faults of requests by their numbers.
type chooser struct {
	faults *Faults
	seed   uint64
	seen   atomic.Int64 // requests numbered so far
}

// number is the number at the end of a request's x-request-id, so that what depends on it does not
// depend on the order in which requests arrive. Requests without an id are counted.
func (c *chooser) number(r *http.Request) int64 {
	n := steps.Number(r.Header.Get("X-Request-Id"))
	if n < 0 {
		n = c.seen.Add(1) - 1
	}
	return n
}

// choose returns the faults for a request, by its number.
func (c *chooser) choose(r *http.Request, number int64) (misdeeds, *problem) {
	if asked := r.Header.Get(FaultHeader); asked != "" {
		list, err := ParseFaults(asked)
		if err != nil {
			return nil, badRequest(FaultHeader, "%v", err)
		}
		return list, nil
	}
	f := c.faults
	if len(f.List) == 0 {
		return nil, nil
	}
	if f.Probability == 0 && f.Every == 0 {
		return f.List, nil
	}
	chance := rand.New(rand.NewPCG(c.seed, uint64(number)))
	if f.Every > 0 && (number+1)%int64(f.Every) == 0 || chance.Float64() < f.Probability {
		return f.List, nil
	}
	return nil, nil
}
