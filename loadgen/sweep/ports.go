package sweep

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
)

// portName is a port that is to be found: ${port}, ${port2} and so on.
var portName = regexp.MustCompile(`\$\{port[0-9]*\}`)

// withPorts puts ports where text names them.
func withPorts(text string, port func(name string) string) string {
	return portName.ReplaceAllStringFunc(text, port)
}

// fixedPort stands for a port that is not known yet: another one for each name.
func fixedPort(name string) string {
	n, _ := strconv.ParseUint(strings.Trim(name, "${port}"), 10, 64) // none is 0
	return strconv.FormatUint(1+n%65535, 10)
}

// namesOf are the ports that texts name.
func namesOf(texts []string) (names []string) {
	for _, text := range texts {
		names = append(names, portName.FindAllString(text, -1)...)
	}
	return names
}

// ports are free ports of the loopback interface by their names.
type ports map[string]string

// find finds a free port for each name in texts.
func (p ports) find(texts []string) error {
	for _, name := range namesOf(texts) {
		if p[name] != "" {
			continue
		}
		// Kept open until all are found, no port is found twice.
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("finding a free port: %w", err)
		}
		defer l.Close()
		_, p[name], _ = net.SplitHostPort(l.Addr().String())
	}
	return nil
}

// put is text with the ports in their places.
func (p ports) put(text string) string {
	return withPorts(text, func(name string) string { return p[name] })
}

func (p ports) putAll(texts []string) []string {
	var put []string
	for _, text := range texts {
		put = append(put, p.put(text))
	}
	return put
}

// AnyPorts puts some port where texts name one, so that what holds them can be
// checked before any server is started.
func AnyPorts(texts []string) []string {
	var put []string
	for _, text := range texts {
		put = append(put, withPorts(text, fixedPort))
	}
	return put
}
