package main

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/selftest/metronome"
)

func TestEveryClientReadsEveryEvent(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &metronome.Server{ITL: time.Millisecond}
	go m.Serve(t.Context(), listener)
	for _, client := range []string{ours, goOpenAI, plain} {
		s, err := newStream(client, "http://"+listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		began, events := time.Now().UnixNano(), 0
		err = s(t.Context(), 7, func(a arrival) {
			if events++; a.truth < began || a.at.UnixNano() < began {
				t.Errorf("%s: event %d written at %d and seen at %d, asked for at %d", client, events, a.truth, a.at.UnixNano(), began)
			}
		})
		if err != nil || events != 7 {
			t.Errorf("%s: %d events, %v; want 7", client, events, err)
		}
	}
	if _, err := newStream("nobody", ""); err == nil {
		t.Error("no error for an unknown client")
	}
}

func TestTheFloorReadsWhatTheFeederWrites(t *testing.T) {
	for _, stamps := range []bool{false, true} {
		feeder, err := newFeeder(3, 4)
		if err != nil {
			t.Fatal(err)
		}
		f, err := newFloor(feeder.addr, stamps)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := f.connect(10); err != nil {
				t.Fatal(err)
			}
			if err := feeder.accept(); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			f.expect(3 * 4)
			if err := feeder.write(); err != nil {
				t.Fatal(err)
			}
			if err := f.consume(); err != nil {
				t.Fatal(err)
			}
			if f.expected != 0 {
				t.Errorf("stamps %t: %d events too few or too many", stamps, f.expected)
			}
		}
	}
}

func TestOurClientCountsBurstsOfTheFeeder(t *testing.T) {
	feeder, err := newFeeder(2, 8)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReader(ours, feeder.addr)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.connect(10); err != nil {
			t.Fatal(err)
		}
		if err := feeder.accept(); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		r.expect(2 * 8)
		if err := feeder.write(); err != nil {
			t.Fatal(err)
		}
		// Where there are several CPUs it may well be reading early.
		if err := r.consume(); err != nil && err != errEarly {
			t.Fatal(err)
		}
		if seen := r.(*crowd).seen.Load() % 16; seen != 0 {
			t.Errorf("%d events of a burst seen", seen)
		}
	}
}

func TestLoadsAnswerForThemselves(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &metronome.Server{ITL: time.Millisecond}
	go m.Serve(t.Context(), listener)
	addr := listener.Addr().(*net.TCPAddr).AddrPort()
	for _, j := range []job{
		startsJob{Addr: addr, Requests: 20, Connections: 4},
		streamsJob{Addr: addr, Streams: 4, Tokens: 5},
		lagJob{Addr: addr, Rate: 1000, Seconds: 1},
		pacedJob{Client: ours, Addr: addr, Streams: 3, Steps: 4},
		pacedJob{Client: bareStamped, Addr: addr, Streams: 3, Steps: 4},
	} {
		if _, err := j.run(); err != nil {
			t.Errorf("%T: %v", j, err)
		}
	}
	nobody := netip.MustParseAddrPort("127.0.0.1:1")
	if _, err := (startsJob{Addr: nobody, Requests: 1, Connections: 1}).run(); err == nil {
		t.Error("no error without a server")
	}
}
