package export

import (
	"encoding/csv"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/save"
)

// A requestRow is a row of a table of requests. Times are seconds from the start of its run, for a
// shard by the shard's clock. Latencies follow the definitions of the run, as in its block; only
// completed requests have them. Unknown optional values are null, in CSV an empty field. CSV has no
// lists.
type requestRow struct {
	Run       string `parquet:"run,dict"` // which run it belongs to
	Target    string `parquet:"target,optional,dict"`
	Shard     int64  `parquet:"shard"`
	Index     int64  `parquet:"index"` // position in the dataset and in the conversation
	Turn      int64  `parquet:"turn"`
	ID        string `parquet:"request_id,optional"`         // x-request-id
	Adapter   string `parquet:"adapter,optional,dict"`       // LoRA adapter that it asked for
	Phase     string `parquet:"phase,dict"`                  // main, warm-up or drain
	Completed bool   `parquet:"completed"`                   // whether it completed
	Failure   string `parquet:"failure,optional,dict"`       // class of its failure
	Status    int64  `parquet:"status,optional"`             // HTTP status
	Error     string `parquet:"error,optional,dict"`         // message of its failure
	Finish    string `parquet:"finish_reason,optional,dict"` // the server's finish reason
	Attempts  int64  `parquet:"attempts"`                    // how often it was sent

	Due          float64  `parquet:"due_s"`                 // when the schedule wanted it
	Slot         float64  `parquet:"slot_s"`                // when it got a slot
	Sent         float64  `parquet:"sent_s"`                // when it was sent
	FirstByte    *float64 `parquet:"first_byte_s,optional"` // when these arrived
	FirstContent *float64 `parquet:"first_content_s,optional"`
	LastChunk    *float64 `parquet:"last_chunk_s,optional"`
	End          *float64 `parquet:"end_s,optional"` // when the response was over

	Lag   *float64  `parquet:"lag_ms,optional"`   // how late servebench sent it
	Queue *float64  `parquet:"queue_ms,optional"` // how long it waited for a slot
	TTFT  *float64  `parquet:"ttft_ms,optional"`  // its latencies
	TTFO  *float64  `parquet:"ttfo_ms,optional"`
	TPOT  *float64  `parquet:"tpot_ms,optional"`
	E2EL  *float64  `parquet:"e2el_ms,optional"`
	ITL   []float64 `parquet:"itl_ms,list"` // list of times between its chunks; Parquet only

	Chunks      int64 `parquet:"chunks"`       // chunks of the response
	Input       int64 `parquet:"input_tokens"` // prompt tokens: counted, asked, cached
	InputAsked  int64 `parquet:"input_tokens_asked"`
	Cached      int64 `parquet:"cached_tokens"`
	Output      int64 `parquet:"output_tokens"` // output tokens: counted, reasoning, asked
	Reasoning   int64 `parquet:"reasoning_tokens,optional"`
	OutputAsked int64 `parquet:"output_tokens_asked"`

	NewConnection bool     `parquet:"new_connection"`           // whether one was opened for it
	Connecting    float64  `parquet:"connecting_ms"`            // how long that took, inside TTFT
	ServerQueue   *float64 `parquet:"server_queue_ms,optional"` // the server's own times
	ServerTTFT    *float64 `parquet:"server_ttft_ms,optional"`

	// These are of requests that carried more than one prompt of text.
	Images int64    `parquet:"images,optional"` // what it carried apart from a text
	Videos int64    `parquet:"videos,optional"`
	Sound  *float64 `parquet:"sound_s,optional"`
	Inputs int64    `parquet:"inputs,optional"`
	Bytes  int64    `parquet:"body_bytes,optional"`

	// These are of requests in sessions of several.
	Session      string   `parquet:"session,optional,dict"` // its session
	SessionTurns int64    `parquet:"session_turns,optional"`
	Agent        string   `parquet:"agent,optional,dict"`
	Waits        []int64  `parquet:"waits,list"`               // list of awaited turns; Parquet only
	SessionSlot  *float64 `parquet:"place_s,optional"`         // when the session got its slot
	Ready        *float64 `parquet:"ready_s,optional"`         // when that wait ended
	Gap          *float64 `parquet:"gap_ms,optional"`          // how long it was to wait then
	ToolGap      bool     `parquet:"tool_gap,optional"`        // whether a tool took that time
	At           *float64 `parquet:"at_s,optional"`            // when the recording had it sent
	Drift        *float64 `parquet:"drift_ms,optional"`        // how far behind that it was due
	History      *int64   `parquet:"history_tokens,optional"`  // prompt tokens of earlier turns
	Reusable     *int64   `parquet:"reusable_tokens,optional"` // in a cache without limit
	Answered     int64    `parquet:"answered_tokens,optional"` // of the recorded response in it
}

func newRequest(h *metrics.Header, r *metrics.Record) *requestRow {
	r, _ = h.Counted(r).Possible()
	row := &requestRow{
		Run: h.Run, Target: h.TargetName(), Shard: int64(h.Shard), Index: int64(r.Index), Turn: int64(r.Turn), ID: r.ID,
		Adapter: r.Adapter,
		Phase:   string(r.Phase), Completed: r.Class == metrics.OK, Failure: string(r.Class), Status: int64(r.Status),
		Error:  r.Error,
		Finish: r.Finish, Attempts: int64(max(r.Attempts, 1)),
		Due: r.Due.Seconds(), Slot: r.Slot.Seconds(), Sent: r.Sent.Seconds(), FirstByte: happened(r.FirstByte),
		FirstContent: happened(r.FirstContent), LastChunk: happened(r.Last), End: happened(r.End),
		Chunks: int64(r.Chunks.Len()), Input: int64(r.In), InputAsked: int64(r.InAsked), Cached: int64(r.Cached),
		Output: int64(r.Out), Reasoning: int64(r.OutReasoned), OutputAsked: int64(r.OutAsked), NewConnection: r.Conn.New,
		Connecting: metrics.Milliseconds(r.Conn.DNS + r.Conn.Connect + r.Conn.Proxy + r.Conn.TLS),
	}
	if r.Phase == metrics.Main {
		row.Phase = "main"
	}
	if r.Server != nil {
		row.ServerQueue, row.ServerTTFT = r.Server.QueueMS, r.Server.TTFTMS
	}
	if p := r.Payload; p != nil {
		row.Images, row.Videos, row.Inputs, row.Bytes = int64(p.Images), int64(p.Videos), int64(p.Inputs), int64(p.Bytes)
		if p.Audio > 0 {
			row.Sound = &p.Audio
		}
	}
	if r.Session != nil {
		row.step(r.Session, r.Due)
	}
	places := map[string]**float64{"lag": &row.Lag, "queue": &row.Queue, "ttft": &row.TTFT, "tpot": &row.TPOT,
		"e2el": &row.E2EL}
	for name, d := range r.Latencies() {
		if ms := metrics.Milliseconds(d); name == "itl" {
			row.ITL = append(row.ITL, ms)
		} else {
			*places[name] = &ms
		}
	}
	if ttfo, there := r.TTFO(); there && row.TTFT != nil {
		row.TTFO = new(metrics.Milliseconds(ttfo))
	}
	return row
}

// step fills the columns of a request that was due at a time in its session.
func (row *requestRow) step(s *metrics.Turn, due time.Duration) {
	row.Session, row.SessionTurns, row.Agent, row.ToolGap = s.ID, int64(s.Turns), s.Agent, s.Tool
	row.SessionSlot, row.Ready, row.Gap = new(s.SessionSlot.Seconds()), new(s.Ready.Seconds()),
		new(metrics.Milliseconds(s.Gap))
	row.History, row.Answered = new(int64(s.History)), int64(s.Answered)
	for _, turn := range s.Waits {
		row.Waits = append(row.Waits, int64(turn))
	}
	if s.Reusable >= 0 {
		row.Reusable = new(int64(s.Reusable))
	}
	if s.At != nil {
		row.At, row.Drift = new(s.At.Seconds()), new(metrics.Milliseconds(due-*s.At))
	}
}

// happened is a time in seconds, nil for never.
func happened(at time.Duration) *float64 {
	if at == 0 {
		return nil
	}
	return new(at.Seconds())
}

// columns are the columns of the table that are no lists, by their fields in a request.
func columns() (names []string, fields []int) {
	row := reflect.TypeFor[requestRow]()
	for i := range row.NumField() {
		if row.Field(i).Type.Kind() != reflect.Slice {
			name, _, _ := strings.Cut(row.Field(i).Tag.Get("parquet"), ",")
			names, fields = append(names, name), append(fields, i)
		}
	}
	return names, fields
}

// A csvTable writes the rows as comma-separated values.
type csvTable struct {
	*csv.Writer
	fields []int
	cells  []string
	failed error // of the head
}

func newCSV(w io.Writer) table {
	names, fields := columns()
	t := &csvTable{Writer: csv.NewWriter(w), fields: fields}
	t.failed = t.Write(names)
	return t
}

func (t *csvTable) add(r *requestRow) error {
	t.cells = t.cells[:0]
	row := reflect.ValueOf(r).Elem()
	for _, i := range t.fields {
		optional := strings.Contains(row.Type().Field(i).Tag.Get("parquet"), ",optional")
		t.cells = append(t.cells, cell(row.Field(i), optional))
	}
	return t.Write(t.cells)
}

func (t *csvTable) Close() error {
	t.Flush()
	return t.Error()
}

// cell is a value as CSV has it.
func cell(v reflect.Value, optional bool) string {
	switch {
	case optional && v.IsZero():
		return ""
	case v.Kind() == reflect.Pointer:
		return cell(v.Elem(), false)
	case v.Kind() == reflect.Float64:
		return number(v.Float())
	case v.Kind() == reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return save.Cell(v.String())
}

// number writes a number with the digits that it takes to read it back.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// A parquetTable writes the rows in groups, since a group is in memory until it is full.
type parquetTable struct {
	*parquet.GenericWriter[requestRow]
	values, most int // in the group, about
}

// groupValues is about how many values a group has: 30 MB of them.
const groupValues = 4 << 20

func newParquet(w io.Writer) table {
	return &parquetTable{GenericWriter: parquet.NewGenericWriter[requestRow](w, parquet.Compression(&parquet.Zstd)),
		most: groupValues}
}

func (t *parquetTable) add(r *requestRow) error {
	if _, err := t.Write([]requestRow{*r}); err != nil {
		return err
	}
	if t.values += reflect.TypeFor[requestRow]().NumField() + len(r.ITL) + len(r.Waits); t.values < t.most {
		return nil
	}
	t.values = 0
	return t.Flush()
}
