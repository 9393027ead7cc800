package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
)

// The kernel would give another program a port of its own range before the server opens it.
func TestNoOtherProgramGetsAFreePortByChance(t *testing.T) {
	const servers = 200
	s := Server{Ready: "http://127.0.0.1:${port1}"}
	for i := range servers {
		s.Command = append(s.Command, fmt.Sprintf("${port%d}", i+1))
	}
	started, err := ports{}.server(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range started.Command {
		if port, err := strconv.Atoi(text); err != nil || port < firstPort || port >= firstPort+portCount {
			t.Errorf("port %q: %v", text, err)
		}
	}
	if started.Ready != "http://127.0.0.1:"+started.Command[0] {
		t.Errorf("%s is asked, and it is at port %s", started.Ready, started.Command[0])
	}
	slices.Sort(started.Command)
	if n := len(slices.Compact(started.Command)); n != servers {
		t.Errorf("%d different ports for %d servers", n, servers)
	}
}
