package reading

import (
	"net"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
	"github.com/servebench/servebench/metrics/record"
)

func TestEveryClientReadsEveryEvent(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &metronome.Server{ITL: time.Millisecond}
	go server.Serve(t.Context(), listener)
	for client, events := range map[string]int{Ours: 7, GoOpenAI: 7, Plain: 7, AtOnce: 1} {
		began, seen := time.Now().UnixNano(), 0
		send := Sender(client, "http://"+listener.Addr().String())
		for chunk, err := range send(t.Context(), time.Now(), &engine.Request{Body: requestBody(7)}, new(record.Record)) {
			if err != nil {
				t.Fatalf("%s: %v", client, err)
			}
			seen++
			truth, err := metronome.ParseTruth(chunk.Text)
			if at := chunk.At.UnixNano(); err != nil || truth.Written < began || at < truth.Written {
				t.Errorf("%s: event %d written at %d and seen at %d, asked for at %d: %v", client, seen, truth.Written, at, began, err)
			}
		}
		if seen != events {
			t.Errorf("%s: %d events, want %d", client, seen, events)
		}
	}
	for _, client := range []string{Ours, GoOpenAI, Plain} {
		for _, err := range Sender(client, "http://127.0.0.1:1")(t.Context(), time.Now(), &engine.Request{Body: requestBody(7)}, new(record.Record)) {
			if err == nil {
				t.Errorf("%s: an event without a server", client)
			}
		}
	}
}

// readBursts has r read bursts of three streams that the feeder fills with four events.
func readBursts(t *testing.T, client string, read func(r reader) error) {
	t.Helper()
	feeder, err := newFeeder(4)
	if err != nil {
		t.Fatal(err)
	}
	defer feeder.listener.Close()
	r, err := newReader(client, feeder.listener.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := r.connect(feeder.listener.Addr()); err != nil {
			t.Fatal(err)
		}
		if err := feeder.accept(); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		r.expect(3 * 4)
		if err := feeder.write(); err != nil {
			t.Fatal(err)
		}
		if err := read(r); err != nil {
			t.Fatalf("%s: %v", client, err)
		}
	}
}

func TestTheFloorReadsWhatTheFeederWrites(t *testing.T) {
	for _, client := range []string{Bare, BareStamped} {
		readBursts(t, client, func(r reader) error {
			err := r.consume()
			if left := r.(*floor).expected; left != 0 {
				t.Errorf("%s: %d events too few or too many", client, left)
			}
			return err
		})
	}
}

func TestTheClientsCountBurstsOfTheFeeder(t *testing.T) {
	for _, client := range []string{Ours, GoOpenAI, Plain} {
		readBursts(t, client, func(r reader) error {
			// Where there are several CPUs it may well be reading early.
			if err := r.consume(); err != nil && err != errEarly {
				return err
			}
			if seen := r.(*crowd).seen.Load() % 12; seen != 0 {
				t.Errorf("%s: %d events of a burst seen", client, seen)
			}
			return nil
		})
	}
}
