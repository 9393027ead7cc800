package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
)

func TestAnEventEndsAfterItsBlankLine(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "data: x": 0, "data: x\n": 0, "data: x\n\n": 9, "data: x\n\ndata: y\n\n": 9, "a\nb\n\nc": 5,
		"9\r\ndata: x\n\n\r\n9\r\n": 14, "data: x\n\n\r": 9, "data: x\r\n\r\n": 11, "d\r\ndata: x\r\n\r\n\r\n9": 16, "0\r\n\r\n": 5, "\r\n0\r\n\r\n": 7,
	} {
		if got := eventEnd([]byte(text)); got != want {
			t.Errorf("%q ends after %d bytes, want %d", text, got, want)
		}
	}
}

// A reader that was late reads the same bytes, whatever lies in its socket and however little it
// asks for.
func TestReadingEventsOneByOneLosesNothing(t *testing.T) {
	needKernelStamps(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{1, 7, 300, 4 << 10, 20 << 10} {
		client, server := echo(t)
		conn := stamp(client, askForStamps)
		var sent bytes.Buffer
		for range 200 {
			for range random.IntN(60) {
				sent.WriteString([]string{"data: x", "\n", "\n\n", "\r\n", "\r\n\r\n", string(make([]byte, random.IntN(400)))}[random.IntN(6)])
			}
			writeInParts(t, random, server, sent.Bytes())
			for unread(t, client) < sent.Len() {
				runtime.Gosched()
			}
			var got bytes.Buffer
			for p := make([]byte, most); got.Len() < sent.Len(); {
				conn.kernel.splits.late = true
				n, err := conn.Read(p)
				if err != nil || n == 0 {
					t.Fatal(n, err)
				}
				got.Write(p[:n])
			}
			if !bytes.Equal(got.Bytes(), sent.Bytes()) {
				t.Fatalf("reading up to %d bytes: %d bytes came as %d others", most, sent.Len(), got.Len())
			}
			if conn.kernel.splits.batch != nil {
				t.Fatal("something is left")
			}
			sent.Reset()
		}
		server.Close()
		conn.kernel.splits.late = true
		if n, err := conn.Read(make([]byte, 9)); n != 0 || err != io.EOF {
			t.Errorf("at the end %d bytes, %v", n, err)
		}
	}
}

// writeInParts writes p in a few segments.
func writeInParts(t *testing.T, random *rand.Rand, server net.Conn, p []byte) {
	t.Helper()
	for len(p) > 0 {
		n := 1 + random.IntN(len(p))
		if _, err := server.Write(p[:n]); err != nil {
			t.Fatal(err)
		}
		p = p[n:]
	}
}

// A late reader soon takes events as they come if the kernel has one stamp for all that it finds.
func TestALateReaderStopsSplittingWhatCameTogether(t *testing.T) {
	needKernelStamps(t)
	tally := new(Tally)
	client, server := echo(t)
	conn := stamp(client, askForStamps)
	conn.kernel.share(tally)
	write := func(text string) {
		if _, err := server.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		for unread(t, client) < len(text) {
			runtime.Gosched()
		}
	}
	p := make([]byte, 1<<10)
	read := func() int {
		conn.kernel.splits.late = true
		n, err := conn.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	event := "data: " + string(bytes.Repeat([]byte{'x'}, 100)) + "\n\n"
	write(event)
	read()
	split := 0
	for range mostDebt + 10*doubtEvery {
		write(event + event)
		for n := 0; n < 2*len(event); {
			if n += read(); n == len(event) {
				split++
			}
		}
	}
	if want := mostDebt + 10; split != want {
		t.Errorf("%d writes of two events were split, want %d", split, want)
	}
}

// What was taken from the socket, and nobody has read, would pass for the next reply.
func TestALineWithEventsLeftIsNotAlive(t *testing.T) {
	client, _ := echo(t)
	conn := stamp(client, askForStamps)
	if conn.kernel == nil {
		t.Skip("this kernel refuses SO_TIMESTAMPNS")
	}
	if !conn.alive(true) {
		t.Error("it is not alive at first")
	}
	conn.kernel.splits.batch = newBatch()
	if conn.alive(true) {
		t.Error("it is alive with events left")
	}
}

// Over net/http somebody always reads, so whoever asks whether a connection is alive must not look at what the
// reader has left.
func TestALineThatIsReadCanBeAskedForLife(t *testing.T) {
	needKernelStamps(t)
	client, server := echo(t)
	conn := stamp(client, askForStamps)
	event := []byte("data: x\n\n")
	const events = 400
	done := make(chan error)
	go func() {
		p := make([]byte, 4<<10)
		for got := 0; got < events*len(event); {
			conn.kernel.splits.late = true
			n, err := conn.Read(p)
			if got += n; err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range events {
		if _, err := server.Write(event); err != nil {
			t.Fatal(err)
		}
		conn.alive(false)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !conn.alive(false) {
		t.Error("a connection that was read to the end is dead")
	}
}
