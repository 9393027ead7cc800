package loadgen

// alive reports whether the other side has not closed the connection. Here it
// cannot tell.
func (c *stampedConn) alive() bool { return true }
