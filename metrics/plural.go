package metrics

import "fmt"

// counted writes a number of things: 1 line, 2 lines.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
