package record

import (
	"net/http"
	"time"
)

// The table has the fields of a Record, in the order in which a line has them. In a line, times after `sent` count from
// it, and what is usual is left out. A comment above a row says what the member of a line means, where the comment of
// the Record's field does not say it.
var table = []Field{
	// The head of a line has it.
	{"", "", name(func(r *Record) *string { return &r.Run })},
	{"i", "index", always(count(func(r *Record) *int { return &r.Index }))},
	{"turn", "turn", count(func(r *Record) *int { return &r.Turn })},
	{"id", "request_id", text(func(r *Record) *string { return &r.ID })},
	{"target", "", name(func(r *Record) *string { return &r.Target })},
	{"phase", "", name(func(r *Record) *string { return (*string)(&r.Phase) })},
	// How often the request was sent; 1 if missing.
	{"attempts", "", usually(func(*Record) int64 { return 1 }, count(func(r *Record) *int { return &r.Attempts }))},
	{"reconnects", "", count(func(r *Record) *int { return &r.Reconnects })},
	{"adapter", "adapter", name(func(r *Record) *string { return &r.Adapter })},
	{"payload", "", object(payloadFields, func(r *Record) **Payload { return &r.Payload })},
	{"sent", "sent_s", start(func(r *Record) *time.Duration { return &r.Times.Sent })},
	// How late the request was sent, and Queue how long it waited for a slot: the schedule wanted it at
	// Sent − Lag − Queue.
	{"lag", "", derived((*Record).Lag, func(r *Record, d time.Duration) {
		r.Times.Slot = r.Times.Sent - d
		r.Times.Due = r.Times.Slot
	})},
	{"queue", "", derived((*Record).Queue, func(r *Record, d time.Duration) {
		r.Times.Due, r.Times.Slot = r.Times.Due-max(d, 0), r.Times.Slot+min(d, 0)
	})},
	{"step", "", object(stepFields, func(r *Record) **Turn { return &r.Session })},
	{"wrote", "", moment(func(r *Record) *time.Duration { return &r.Times.Wrote })},
	{"waited", "", span(func(r *Record) *time.Duration { return &r.Times.Waited })},
	{"first_byte", "first_byte_s", moment(func(r *Record) *time.Duration { return &r.Times.FirstByte })},
	// The number of chunks that vLLM's client counts as output.
	{"chunks", "chunks", count(func(r *Record) *int { return &r.Answer.Chunks.n })},
	// The arrival of the first of Chunks, so it is TTFT.
	{"first", "", first(func(r *Record) *Stamps { return &r.Answer.Chunks })},
	// The arrival of the last of Chunks, so it is E2EL; First if missing.
	{"last", "", last(func(r *Record) *Stamps { return &r.Answer.Chunks })},
	// The times between the arrivals, as zigzag varints in base64.
	{"gaps", "", gaps(func(r *Record) *Stamps { return &r.Answer.Chunks })},
	{"", "last_chunk_s", lastOf(func(r *Record) *time.Duration { return &r.Times.Last })},
	// The arrival of the first chunk with text, reasoning, a call or a refusal; First if missing, unless NoContent says
	// that there was none.
	{"first_content", "first_content_s", usually(firstChunk,
		moment(func(r *Record) *time.Duration { return &r.Times.FirstContent }))},
	{"no_content", "", sign(func(r *Record) bool { return r.Answer.Chunks.n > 0 && r.Times.FirstContent == 0 },
		func(r *Record) {
			if int64(r.Times.FirstContent) == firstChunk(r) {
				r.Times.FirstContent = 0
			}
		})},
	{"reasoned", "", flag(func(r *Record) *bool { return &r.Answer.Reasoned })},
	{"first_output", "", moment(func(r *Record) *time.Duration { return &r.Times.FirstOutput })},
	{"blank", "", part(blankFields, func(r *Record) bool { return r.Answer.Blank.n > 0 })},
	{"trailer", "", moment(func(r *Record) *time.Duration { return &r.Times.Trailer })},
	{"", "", moment(func(r *Record) *time.Duration { return &r.Times.LastByte })},
	{"end", "end_s", moment(func(r *Record) *time.Duration { return &r.Times.End })},
	{"late", "", base64Of(func(r *Record) *[]byte { return (*[]byte)(&r.Answer.Late) })},
	// How the request got its connection.
	{"conn", "", part(connFields, func(r *Record) bool { return r.Conn != Conn{} })},
	{"max_age", "", span(func(r *Record) *time.Duration { return &r.Answer.MaxAge })},
	{"shared_reads", "", count(func(r *Record) *int { return &r.Answer.SharedReads })},
	{"in", "input_tokens", count(func(r *Record) *int { return &r.Tokens.In })},
	// The dataset's count of prompt tokens; In if missing.
	{"in_asked", "input_tokens_asked", usually(func(r *Record) int64 { return int64(r.Tokens.In) },
		count(func(r *Record) *int { return &r.Tokens.InAsked }))},
	{"cached", "cached_tokens", count(func(r *Record) *int { return &r.Tokens.Cached })},
	{"uncached", "", flag(func(r *Record) *bool { return &r.Tokens.Uncached })},
	{"unstreamed", "", flag(func(r *Record) *bool { return &r.Answer.Unstreamed })},
	{"out", "output_tokens", count(func(r *Record) *int { return &r.Tokens.Out })},
	{"out_reasoned", "reasoning_tokens", count(func(r *Record) *int { return &r.Tokens.OutReasoned })},
	// How many output tokens were requested; Out if missing.
	{"out_asked", "output_tokens_asked", usually(func(r *Record) int64 { return int64(r.Tokens.Out) },
		count(func(r *Record) *int { return &r.Tokens.OutAsked }))},
	{"uncounted", "", flag(func(r *Record) *bool { return &r.Tokens.Uncounted })},
	{"with_output", "", object(countFields(func(r *Record) *Count { return r.Tokens.WithOutput }),
		func(r *Record) **Count { return &r.Tokens.WithOutput })},
	{"until_0_32", "", object(countFields(func(r *Record) *Count { return r.Tokens.Until032 }),
		func(r *Record) **Count { return &r.Tokens.Until032 })},
	{"differs", "", name(func(r *Record) *string { return &r.Result.Differs })},
	{"tokens_per_chunk", "", list(func(r *Record) *[]int { return &r.Tokens.PerChunk })},
	{"server", "", object(serverFields, func(r *Record) **ServerTimes { return &r.Server })},
	{"finish", "finish_reason", name(func(r *Record) *string { return &r.Answer.Finish })},
	// The HTTP status, 0 without a reply; 200 if missing.
	{"status", "status", usually(func(*Record) int64 { return http.StatusOK },
		count(func(r *Record) *int { return &r.Result.Status }))},
	{"class", "failure", name(func(r *Record) *string { return (*string)(&r.Result.Class) })},
	{"error", "error", message(func(r *Record) *string { return &r.Result.Error })},
	{"text", "", text(func(r *Record) *string { return &r.Answer.Text })},
	{"calls", "", raw(func(r *Record) *[]byte { return (*[]byte)(&r.Answer.Calls) })},
	{"", "", text(func(r *Record) *string { return &r.Answer.Reply })},
	{"reasoning", "", text(func(r *Record) *string { return &r.Answer.Reasoning })},
	{"asked", "", unpacked(raw(func(r *Record) *[]byte { return (*[]byte)(&r.Asked) }))},
}

// stepFields are the fields of a Record's Session.
var stepFields = []Field{
	{"session", "session", text(func(r *Record) *string { return &r.Session.ID })},
	{"turns", "session_turns", count(func(r *Record) *int { return &r.Session.Turns })},
	{"agent", "agent", name(func(r *Record) *string { return &r.Session.Agent })},
	{"waits", "waits", list(func(r *Record) *[]int { return &r.Session.Waits })},
	{"early", "", flag(func(r *Record) *bool { return &r.Session.Early })},
	{"tool", "tool_gap", flag(func(r *Record) *bool { return &r.Session.Tool })},
	{"gap", "gap_ms", span(func(r *Record) *time.Duration { return &r.Session.Gap })},
	// When the last of the responses that it waited for had arrived, or the session started; if missing, the due
	// time minus Gap.
	{"ready", "ready_s", usually(
		func(r *Record) int64 { return int64(r.Times.Due - r.Session.Gap) },
		clock(func(r *Record) *time.Duration { return &r.Session.Ready }))},
	{"at", "at_s", maybe(func(r *Record) **time.Duration { return &r.Session.At })},
	{"took", "", span(func(r *Record) *time.Duration { return &r.Session.Took })},
	// When the session got its session slot; without a limit, when its first turn was due.
	{"session_slot", "session_slot_s", clock(func(r *Record) *time.Duration { return &r.Session.SessionSlot })},
	{"history", "history_tokens", count(func(r *Record) *int { return &r.Session.History })},
	{"reusable", "", count(func(r *Record) *int { return &r.Session.Reusable })},
	{"answered", "answered_tokens", count(func(r *Record) *int { return &r.Session.Answered })},
}

// blankFields are the fields of an Answer's Blank.
var blankFields = []Field{
	// Their number; the others are as above.
	{"n", "", count(func(r *Record) *int { return &r.Answer.Blank.n })},
	{"first", "", first(func(r *Record) *Stamps { return &r.Answer.Blank })},
	{"last", "", last(func(r *Record) *Stamps { return &r.Answer.Blank })},
	{"gaps", "", gaps(func(r *Record) *Stamps { return &r.Answer.Blank })},
}

var connFields = []Field{
	{"new", "new_connection", flag(func(r *Record) *bool { return &r.Conn.New })},
	{"dns", "", span(func(r *Record) *time.Duration { return &r.Conn.DNS })},
	{"connect", "", span(func(r *Record) *time.Duration { return &r.Conn.Connect })},
	{"proxy", "", span(func(r *Record) *time.Duration { return &r.Conn.Proxy })},
	{"tls", "", span(func(r *Record) *time.Duration { return &r.Conn.TLS })},
}

var payloadFields = []Field{
	{"bytes", "body_bytes", count(func(r *Record) *int { return &r.Payload.Bytes })},
	{"inputs", "inputs", count(func(r *Record) *int { return &r.Payload.Inputs })},
	{"images", "images", count(func(r *Record) *int { return &r.Payload.Images })},
	{"videos", "videos", count(func(r *Record) *int { return &r.Payload.Videos })},
	{"audio", "sound_s", amount(func(r *Record) *float64 { return &r.Payload.Audio })},
}

var serverFields = []Field{
	{"queue_ms", "server_queue_ms", number(func(r *Record) **float64 { return &r.Server.QueueMS })},
	{"ttft_ms", "server_ttft_ms", number(func(r *Record) **float64 { return &r.Server.TTFTMS })},
	{"generation_ms", "", number(func(r *Record) **float64 { return &r.Server.GenerationMS })},
	{"load_ms", "server_load_ms", number(func(r *Record) **float64 { return &r.Server.LoadMS })},
	{"mean_itl_ms", "", number(func(r *Record) **float64 { return &r.Server.MeanITLMS })},
}

func countFields(of func(*Record) *Count) []Field {
	return []Field{
		{"in", "", always(count(func(r *Record) *int { return &of(r).In }))},
		{"out", "", always(count(func(r *Record) *int { return &of(r).Out }))},
	}
}

// firstChunk is when FirstContent usually was.
func firstChunk(r *Record) int64 {
	if r.Answer.Chunks.n == 0 {
		return 0
	}
	return int64(r.Answer.Chunks.first)
}

// lastOf is the time that usually is when the last chunk came.
func lastOf(at func(*Record) *time.Duration) form {
	f := usually(func(r *Record) int64 { return int64(r.Answer.Chunks.last) }, moment(at))
	f.zero = true
	return f
}
