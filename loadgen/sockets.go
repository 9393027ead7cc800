package loadgen

// CheckSockets reports why this machine cannot hold n connections to one
// address at once: too few file descriptors, or local ports. It raises the limit
// on descriptors as far as this process may, hard limit included. What cannot be
// read is taken to be enough.
func CheckSockets(n int) error {
	if err := checkFiles(n); err != nil {
		return err
	}
	return checkPorts(n)
}

// CheckSockets reports why this machine cannot hold the connections of n
// requests at once. Those of HTTP/2 share a few, and a Unix socket takes no port.
func (t *Transport) CheckSockets(n int) error {
	switch {
	case t.connections.HTTP2:
		return nil
	case t.connections.Socket != "":
		return checkFiles(n)
	}
	return CheckSockets(n)
}
