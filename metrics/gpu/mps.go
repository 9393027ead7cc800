package gpu

// Moments of an MPS.
const (
	Before = "before" // the load
	After  = "after"
)

// An MPS is what the control daemon of CUDA's Multi-Process Service said about a server that is to
// run under it: https://docs.nvidia.com/deploy/mps.
type MPS struct {
	When string `json:"when"` // Before or After
	// Variable is why the server is to run under MPS, as NAME=VALUE of its environment.
	Variable string `json:"variable"`
	Pipe     string `json:"pipe"` // the folder by which clients find the daemon
	// Absent is why no daemon answered there: clients then run without MPS and do not say so.
	Absent string `json:"absent,omitempty"`
	// Unknown is why nothing is known; empty if the daemon answered, or is Absent.
	Unknown string      `json:"unknown,omitempty"`
	Servers []MPSServer `json:"servers,omitempty"`
}

// An MPSServer computes for its clients.
type MPSServer struct {
	PID     int    `json:"pid"`
	Status  string `json:"status,omitempty"` // as ACTIVE or FAULT; empty if unknown
	Clients int    `json:"clients"`
	Ours    int    `json:"ours"`             // clients that are processes of the server under test
	Hidden  int    `json:"hidden,omitempty"` // clients whose ids this machine does not show
}

// Fault is the status of an MPSServer after a fatal error of one of its clients.
const Fault = "FAULT"

// Faults are the servers in fault.
func (m *MPS) Faults() (found []MPSServer) {
	for _, s := range m.Servers {
		if s.Status == Fault {
			found = append(found, s)
		}
	}
	return found
}

// Clients are how many clients of the daemon are processes of the server under test, and how many
// clients it has.
func (m *MPS) Clients() (ours, all int) {
	for _, s := range m.Servers {
		ours += s.Ours
		all += s.Clients
	}
	return ours, all
}

// Known reports whether the daemon's answer says if the server is a client: if an id is hidden, it
// may be the server's.
func (m *MPS) Known() bool {
	ours, hidden := 0, 0
	for _, s := range m.Servers {
		ours += s.Ours
		hidden += s.Hidden
	}
	return m.Unknown == "" && (ours > 0 || hidden == 0)
}
