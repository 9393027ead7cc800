package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/internal/pipe"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
)

// A server is a Load's way to the server.
type server struct {
	*Load
	url       string
	header    http.Header
	transport *wire.Transport
	tally     *wire.Tally
	pulse     *host.Pulse   // nil where nobody watches
	wait      engine.Waiter // nil for a precise one, which fake time does not know
	close     func()
}

func (l *Load) connect() *server {
	s := &server{Load: l, url: strings.TrimRight(l.URL, "/"), header: openai.Headers("", nil), tally: new(wire.Tally)}
	for name, values := range l.Header {
		s.header[name] = slices.Clone(values)
	}
	connections := wire.Connections{Limit: l.Concurrency, Timeout: wire.DefaultConnectTimeout, Tally: s.tally}
	stop := func() {}
	if l.Handler != nil {
		s.url, s.wait = "http://handler", engine.Sleep
		listener := pipe.Listen()
		connections.Dial = listener.Dial
		web := &http.Server{Handler: l.Handler}
		done := make(chan struct{})
		go func() {
			defer close(done)
			web.Serve(listener)
		}()
		stop = func() {
			web.Close()
			<-done
		}
	}
	s.transport = connections.Transport()
	s.close = func() {
		s.transport.CloseIdleConnections()
		stop()
	}
	return s
}

// model is the first that the server lists.
func (s *server) model(ctx context.Context) (string, error) {
	models, err := (&openai.Server{URL: s.url, Header: s.header, Transport: s.transport, Limit: s.timeout()}).Models(ctx)
	if err == nil && len(models) == 0 {
		err = errors.New("the server lists none")
	}
	if err != nil {
		return "", fmt.Errorf("no model was given: %w", err)
	}
	return models[0].ID, nil
}

func (s *server) target(model string) engine.Target {
	endpoint := s.url + "/v1/completions"
	if s.Chat {
		endpoint = s.url + "/v1/chat/completions"
	}
	api := &openai.Endpoint{
		URL: endpoint, Header: s.header, Chat: s.Chat, Transport: s.transport, Tally: s.tally, Timeouts: wire.Timeouts{Total: s.timeout()},
	}
	body := openai.Body{Model: model, Chat: s.Chat, IgnoreEOS: s.IgnoreEOS}
	encode := func(c *dataset.Conversation, turn int) (*engine.Request, error) {
		text, err := body.Encode(&c.Turns[turn])
		return &engine.Request{ID: c.ID, Body: text}, err
	}
	return engine.Target{Encode: encode, Send: api.Send}
}

// watch begins to watch this process, unless the server is a part of it.
func (s *server) watch() {
	s.tally.Reset()
	if s.Handler == nil {
		s.pulse = host.StartPulse()
	}
}

// unwatch gives what was noticed; nil where nobody looked.
func (s *server) unwatch() *metrics.Evidence {
	if s.pulse == nil {
		return nil
	}
	var seen metrics.Evidence
	s.pulse.Stop(&seen)
	s.tally.Report(&seen)
	return &seen
}

func (l *Load) timeout() time.Duration { return cmp.Or(l.Timeout, DefaultTimeout) }
