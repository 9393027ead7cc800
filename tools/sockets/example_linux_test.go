package sockets_test

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/servebench/servebench/tools/sockets"
)

// An echo answers each line 1 ms after it came.
type echo struct {
	loop   *sockets.Loop
	socket sockets.Receiver
	fd     int
	line   []byte
	due    time.Duration
}

func (e *echo) Accepted(int) {}

func (e *echo) Readable(fd int) {
	in, _, err := e.socket.Receive(fd)
	if err != nil {
		unix.Close(fd)
		return
	}
	e.fd, e.line, e.due = fd, append(e.line, in...), e.loop.Now()+time.Millisecond
}

func (e *echo) Due() (at time.Duration, waiting bool) { return e.due, len(e.line) > 0 }

func (e *echo) WriteDue() {
	if len(e.line) > 0 && e.loop.Now() >= e.due {
		if _, err := unix.Write(e.fd, e.line); err != nil {
			log.Fatal(err)
		}
		e.line = nil
	}
}

// A Loop serves until its file ends.
func ExampleLoop() {
	stop, end, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	defer stop.Close()
	loop, err := sockets.Listen(int(stop.Fd()), 0)
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- loop.Serve(&echo{loop: loop}) }()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", loop.Port))
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range []string{"first", "second"} {
		fmt.Fprintln(conn, line)
		answer, _ := bufio.NewReader(conn).ReadString('\n')
		fmt.Print(answer)
	}
	conn.Close()
	end.Close()
	fmt.Println(<-ended)
	// Output:
	// first
	// second
	// <nil>
}
