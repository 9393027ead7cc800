package stream

import "github.com/servebench/servebench/metrics"

// The fields of a request's line after its head, in the order in which a Writer writes them. A line
// with another field reads as well, but slowly.
var (
	lineFields = []field[reqLine]{
		{`"i":`, func(s *scanner, l *reqLine) { l.Index = s.int() }},
		{`"turn":`, func(s *scanner, l *reqLine) { l.Turn = s.int() }},
		{`"id":`, func(s *scanner, l *reqLine) { l.ID = s.string() }},
		{`"target":`, func(s *scanner, l *reqLine) { l.Target = s.name() }},
		{`"phase":`, func(s *scanner, l *reqLine) { l.Phase = metrics.Phase(s.name()) }},
		{`"attempts":`, func(s *scanner, l *reqLine) { l.Attempts = s.number() }},
		{`"anew":`, func(s *scanner, l *reqLine) { l.Reconnects = s.int() }},
		{`"adapter":`, func(s *scanner, l *reqLine) { l.Adapter = s.name() }},
		{`"payload":`, func(s *scanner, l *reqLine) { l.Payload = made(s, payloadFields) }},
		{`"step":`, func(s *scanner, l *reqLine) {
			l.Step = &stepPart{Turn: new(metrics.Turn)}
			object(s, stepFields, l.Step)
		}},
		{`"sent":`, func(s *scanner, l *reqLine) { l.Sent = s.duration() }},
		{`"lag":`, func(s *scanner, l *reqLine) { l.Lag = s.duration() }},
		{`"queue":`, func(s *scanner, l *reqLine) { l.Queue = s.duration() }},
		{`"wrote":`, func(s *scanner, l *reqLine) { l.Wrote = s.number() }},
		{`"waited":`, func(s *scanner, l *reqLine) { l.Waited = s.duration() }},
		{`"first_byte":`, func(s *scanner, l *reqLine) { l.FirstByte = s.number() }},
		{`"chunks":`, func(s *scanner, l *reqLine) { l.Chunks = s.int() }},
		{`"first":`, func(s *scanner, l *reqLine) { l.First = s.duration() }},
		{`"last":`, func(s *scanner, l *reqLine) { l.Last = s.number() }},
		{`"gaps":`, func(s *scanner, l *reqLine) { l.Gaps = s.base64() }},
		{`"first_content":`, func(s *scanner, l *reqLine) { l.FirstContent = s.number() }},
		{`"no_content":`, func(s *scanner, l *reqLine) { l.NoContent = s.true() }},
		{`"reasoned":`, func(s *scanner, l *reqLine) { l.Reasoned = s.true() }},
		{`"first_output":`, func(s *scanner, l *reqLine) { l.FirstOutput = s.number() }},
		{`"blank":`, func(s *scanner, l *reqLine) { object(s, blankFields, &l.Blank) }},
		{`"trailer":`, func(s *scanner, l *reqLine) { l.Trailer = s.number() }},
		{`"end":`, func(s *scanner, l *reqLine) { l.End = s.number() }},
		{`"late":`, func(s *scanner, l *reqLine) { l.Late = s.base64() }},
		{`"conn":`, func(s *scanner, l *reqLine) { object(s, connFields, &l.Conn) }},
		{`"max_age":`, func(s *scanner, l *reqLine) { l.MaxAge = s.duration() }},
		{`"shared_reads":`, func(s *scanner, l *reqLine) { l.SharedReads = s.int() }},
		{`"in":`, func(s *scanner, l *reqLine) { l.In = s.int() }},
		{`"in_asked":`, func(s *scanner, l *reqLine) { l.InAsked = s.number() }},
		{`"cached":`, func(s *scanner, l *reqLine) { l.Cached = s.int() }},
		{`"uncached":`, func(s *scanner, l *reqLine) { l.Uncached = s.true() }},
		{`"whole":`, func(s *scanner, l *reqLine) { l.Unstreamed = s.true() }},
		{`"out":`, func(s *scanner, l *reqLine) { l.Out = s.int() }},
		{`"out_reasoned":`, func(s *scanner, l *reqLine) { l.OutReasoned = s.int() }},
		{`"out_asked":`, func(s *scanner, l *reqLine) { l.OutAsked = s.number() }},
		{`"uncounted":`, func(s *scanner, l *reqLine) { l.Uncounted = s.true() }},
		{`"beside":`, func(s *scanner, l *reqLine) { l.WithOutput = made(s, tokenFields) }},
		{`"until_0_32":`, func(s *scanner, l *reqLine) { l.Until032 = made(s, tokenFields) }},
		{`"otherwise":`, func(s *scanner, l *reqLine) { l.Differs = s.name() }},
		{`"tokens_per_chunk":`, func(s *scanner, l *reqLine) { l.TokensPerChunk = s.ints() }},
		{`"server":`, func(s *scanner, l *reqLine) { l.Server = made(s, serverFields) }},
		{`"finish":`, func(s *scanner, l *reqLine) { l.Finish = s.name() }},
		{`"status":`, func(s *scanner, l *reqLine) { l.Status = s.number() }},
		{`"class":`, func(s *scanner, l *reqLine) { l.Class = metrics.Class(s.name()) }},
		{`"error":`, func(s *scanner, l *reqLine) { l.Error = s.name() }},
		{`"text":`, func(s *scanner, l *reqLine) { l.Text = s.string() }},
		{`"calls":`, func(s *scanner, l *reqLine) { l.Calls = s.nested() }},
		{`"reasoning":`, func(s *scanner, l *reqLine) { l.Reasoning = s.string() }},
		{`"asked":`, func(s *scanner, l *reqLine) { l.Asked = s.nested() }},
	}
	blankFields = []field[blankPart]{
		{`"n":`, func(s *scanner, b *blankPart) { b.N = s.int() }},
		{`"first":`, func(s *scanner, b *blankPart) { b.First = s.duration() }},
		{`"last":`, func(s *scanner, b *blankPart) { b.Last = s.number() }},
		{`"gaps":`, func(s *scanner, b *blankPart) { b.Gaps = s.base64() }},
	}
	stepFields = []field[stepPart]{
		{`"session":`, func(s *scanner, p *stepPart) { p.ID = s.string() }},
		{`"turns":`, func(s *scanner, p *stepPart) { p.Turns = s.int() }},
		{`"agent":`, func(s *scanner, p *stepPart) { p.Agent = s.name() }},
		{`"waits":`, func(s *scanner, p *stepPart) { p.Waits = s.ints() }},
		{`"early":`, func(s *scanner, p *stepPart) { p.Early = s.true() }},
		{`"tool":`, func(s *scanner, p *stepPart) { p.Tool = s.true() }},
		{`"ready":`, func(s *scanner, p *stepPart) { p.Ready = s.number() }},
		{`"gap":`, func(s *scanner, p *stepPart) { p.Gap = s.duration() }},
		{`"at":`, func(s *scanner, p *stepPart) { p.At = s.number() }},
		{`"took":`, func(s *scanner, p *stepPart) { p.Took = s.duration() }},
		{`"place":`, func(s *scanner, p *stepPart) { p.SessionSlot = s.number() }},
		{`"history":`, func(s *scanner, p *stepPart) { p.History = s.int() }},
		{`"reusable":`, func(s *scanner, p *stepPart) { p.Reusable = s.int() }},
		{`"answered":`, func(s *scanner, p *stepPart) { p.Answered = s.int() }},
	}
	connFields = []field[metrics.Conn]{
		{`"new":`, func(s *scanner, c *metrics.Conn) { c.New = s.true() }},
		{`"dns":`, func(s *scanner, c *metrics.Conn) { c.DNS = s.duration() }},
		{`"connect":`, func(s *scanner, c *metrics.Conn) { c.Connect = s.duration() }},
		{`"proxy":`, func(s *scanner, c *metrics.Conn) { c.Proxy = s.duration() }},
		{`"tls":`, func(s *scanner, c *metrics.Conn) { c.TLS = s.duration() }},
	}
	payloadFields = []field[metrics.Payload]{
		{`"bytes":`, func(s *scanner, p *metrics.Payload) { p.Bytes = s.int() }},
		{`"inputs":`, func(s *scanner, p *metrics.Payload) { p.Inputs = s.int() }},
		{`"images":`, func(s *scanner, p *metrics.Payload) { p.Images = s.int() }},
		{`"videos":`, func(s *scanner, p *metrics.Payload) { p.Videos = s.int() }},
		{`"audio":`, func(s *scanner, p *metrics.Payload) {
			if seconds := s.float(); seconds != nil {
				p.Audio = *seconds
			}
		}},
	}
	tokenFields = []field[metrics.Tokens]{
		{`"in":`, func(s *scanner, t *metrics.Tokens) { t.In = s.int() }},
		{`"out":`, func(s *scanner, t *metrics.Tokens) { t.Out = s.int() }},
	}
	serverFields = []field[metrics.ServerTimes]{
		{`"queue_ms":`, func(s *scanner, t *metrics.ServerTimes) { t.QueueMS = s.float() }},
		{`"ttft_ms":`, func(s *scanner, t *metrics.ServerTimes) { t.TTFTMS = s.float() }},
		{`"generation_ms":`, func(s *scanner, t *metrics.ServerTimes) { t.GenerationMS = s.float() }},
		{`"mean_itl_ms":`, func(s *scanner, t *metrics.ServerTimes) { t.MeanITLMS = s.float() }},
	}
)
