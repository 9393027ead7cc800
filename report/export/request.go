package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/report/save"
)

// A request is a row of a table of requests: a Record of a run, and its latencies by the definitions of the run.
type request struct {
	header    *metrics.Header
	record    *record.Record
	latencies map[string]float64 // in milliseconds; itl is in gaps
	gaps      []float64
}

func newRequest(h *metrics.Header, r *record.Record) *request {
	r, _ = h.Counted(r).Possible()
	q := &request{header: h, record: r, latencies: map[string]float64{}}
	for name, d := range r.Latencies() {
		if ms := metrics.Milliseconds(d); name == "itl" {
			q.gaps = append(q.gaps, ms)
		} else {
			q.latencies[name] = ms
		}
	}
	if ttfo, there := r.TTFO(); there {
		if _, completed := q.latencies["ttft"]; completed {
			q.latencies["ttfo"] = metrics.Milliseconds(ttfo)
		}
	}
	return q
}

// A requestColumn is a column of the tables of requests: a field of a Record, or what is computed from several. CSV has
// no lists.
type requestColumn struct {
	name string
	nulls
	value
}

// Nulls say where a column is null, in CSV an empty field.
type nulls string

const (
	none    nulls = ""
	unknown nulls = "optional"      // where the value is not known
	zeros   nulls = "optional,zero" // where it is zero, or not known
)

// A value is what a column has of each request: a value of the type of zero, or nil if it is not known.
type value struct {
	zero any
	of   func(*request) any
}

// Times are seconds from the start of the run, for a shard by the shard's clock. Only completed requests have
// latencies.
func columnsOfRequests() []requestColumn {
	field := fieldsOf()
	return []requestColumn{
		{"run", none, textOf(func(q *request) string { return q.header.Run })}, // which run it belongs to
		{"target", zeros, textOf(func(q *request) string { return q.header.TargetName() })},
		{"shard", none, wholeOf(func(q *request) int { return q.header.Shard })},
		{"index", none, field["index"]}, // position in the dataset and in the conversation
		{"turn", none, field["turn"]},
		{"request_id", zeros, field["request_id"]},        // x-request-id
		{"adapter", zeros, field["adapter"]},              // LoRA adapter that it asked for
		{"phase", none, textOf((*request).phase)},         // main, warm-up or drain
		{"completed", none, flagOf((*request).completed)}, // whether it completed
		{"failure", zeros, field["failure"]},              // class of its failure
		{"status", zeros, field["status"]},                // HTTP status
		{"error", zeros, field["error"]},                  // message of its failure
		{"finish_reason", zeros, field["finish_reason"]},  // the server's finish reason
		// how often it was sent
		{"attempts", none, wholeOf(func(q *request) int { return max(q.record.Attempts, 1) })},

		// when the schedule wanted it
		{"due_s", none, numberOf(func(q *request) float64 { return q.record.Times.Due.Seconds() })},
		// when it got a slot
		{"slot_s", none, numberOf(func(q *request) float64 { return q.record.Times.Slot.Seconds() })},
		{"sent_s", none, field["sent_s"]},              // when it was sent
		{"first_byte_s", zeros, field["first_byte_s"]}, // when these arrived
		{"first_content_s", zeros, field["first_content_s"]},
		{"last_chunk_s", zeros, field["last_chunk_s"]},
		{"end_s", zeros, field["end_s"]}, // when the response was over

		{"lag_ms", unknown, latencyOf("lag")},     // how late servebench sent it
		{"queue_ms", unknown, latencyOf("queue")}, // how long it waited for a slot
		{"ttft_ms", unknown, latencyOf("ttft")},   // its latencies
		{"ttfo_ms", unknown, latencyOf("ttfo")},
		{"tpot_ms", unknown, latencyOf("tpot")},
		{"e2el_ms", unknown, latencyOf("e2el")},
		// list of times between its chunks; Parquet only
		{"itl_ms", none, value{[]float64(nil), func(q *request) any { return q.gaps }}},

		{"chunks", none, field["chunks"]},             // chunks of the response
		{"input_tokens", none, field["input_tokens"]}, // prompt tokens: counted, asked, cached
		{"input_tokens_asked", none, field["input_tokens_asked"]},
		{"cached_tokens", none, field["cached_tokens"]},
		{"output_tokens", none, field["output_tokens"]}, // output tokens: counted, reasoning, asked
		{"reasoning_tokens", zeros, field["reasoning_tokens"]},
		{"output_tokens_asked", none, field["output_tokens_asked"]},

		{"new_connection", none, field["new_connection"]}, // whether one was opened for it
		// how long that took, inside TTFT
		{"connecting_ms", none, numberOf(func(q *request) float64 { return metrics.Milliseconds(q.record.Conn.Took()) })},
		{"server_queue_ms", unknown, field["server_queue_ms"]}, // the server's own times
		{"server_ttft_ms", unknown, field["server_ttft_ms"]},
		{"server_load_ms", unknown, field["server_load_ms"]},

		// These are of requests that carried more than one prompt of text.

		{"images", zeros, field["images"]}, // what it carried apart from a text
		{"videos", zeros, field["videos"]},
		{"sound_s", zeros, field["sound_s"]},
		{"inputs", zeros, field["inputs"]},
		{"body_bytes", zeros, field["body_bytes"]},

		// These are of requests in sessions of several.

		{"session", zeros, field["session"]}, // its session
		{"session_turns", zeros, field["session_turns"]},
		{"agent", zeros, field["agent"]},
		{"waits", none, field["waits"]},                      // list of awaited turns; Parquet only
		{"session_slot_s", unknown, field["session_slot_s"]}, // when the session got its slot
		{"ready_s", unknown, field["ready_s"]},               // when that wait ended
		{"gap_ms", unknown, field["gap_ms"]},                 // how long it was to wait then
		{"tool_gap", zeros, field["tool_gap"]},               // whether a tool took that time
		{"at_s", unknown, field["at_s"]},                     // when the recording had it sent
		// how far behind that it was due
		{"drift_ms", unknown, givenOf(0.0, (*request).replayed,
			func(q *request) any { return metrics.Milliseconds(q.record.Times.Due - *q.record.Session.At) })},
		{"history_tokens", unknown, field["history_tokens"]}, // prompt tokens of earlier turns
		// in a cache without limit
		{"reusable_tokens", unknown, givenOf(int64(0), (*request).reusable,
			func(q *request) any { return int64(q.record.Session.Reusable) })},
		{"answered_tokens", zeros, field["answered_tokens"]}, // of the recorded response in it
	}
}

func (q *request) phase() string {
	if q.record.Phase == record.Main {
		return "main"
	}
	return string(q.record.Phase)
}

// replayed reports that the request was recorded, so that there is a time when it was to be sent.
func (q *request) replayed() bool { return q.record.Session != nil && q.record.Session.At != nil }

func (q *request) reusable() bool { return q.record.Session != nil && q.record.Session.Reusable >= 0 }

func (q *request) completed() bool { return q.record.Result.Class == record.OK }

func textOf(of func(*request) string) value {
	return value{"", func(q *request) any { return of(q) }}
}

func wholeOf(of func(*request) int) value {
	return value{int64(0), func(q *request) any { return int64(of(q)) }}
}

func flagOf(of func(*request) bool) value {
	return value{false, func(q *request) any { return of(q) }}
}

func numberOf(of func(*request) float64) value {
	return value{0.0, func(q *request) any { return of(q) }}
}

// givenOf is a value of requests that have it.
func givenOf(zero any, there func(*request) bool, of func(*request) any) value {
	return value{zero, func(q *request) any {
		if !there(q) {
			return nil
		}
		return of(q)
	}}
}

// latencyOf is a latency in milliseconds, where the request has it.
func latencyOf(name string) value {
	return value{0.0, func(q *request) any {
		if ms, there := q.latencies[name]; there {
			return ms
		}
		return nil
	}}
}

// fieldsOf are the fields of a Record that are columns, by their names.
func fieldsOf() map[string]value {
	fields := map[string]value{}
	for f := range record.All() {
		if f.Column != "" {
			fields[f.Column] = value{f.Zero(), func(q *request) any { return f.Value(q.record) }}
		}
	}
	return fields
}

// cell is what the column has of a request; nil for null.
func (c *requestColumn) cell(q *request) any {
	v := c.of(q)
	if v != nil && c.nulls == zeros && reflect.ValueOf(v).IsZero() {
		return nil
	}
	return v
}

func (c *requestColumn) list() bool { return reflect.TypeOf(c.zero).Kind() == reflect.Slice }

// A csvTable writes the rows as comma-separated values.
type csvTable struct {
	*csv.Writer
	columns []*requestColumn
	cells   []string
	failed  error // of the head
}

func newCSV(w io.Writer) table {
	t := &csvTable{Writer: csv.NewWriter(w)}
	var names []string
	columns := columnsOfRequests()
	for i := range columns {
		if c := &columns[i]; !c.list() {
			t.columns, names = append(t.columns, c), append(names, c.name)
		}
	}
	t.failed = t.Write(names)
	return t
}

func (t *csvTable) add(q *request) error {
	t.cells = t.cells[:0]
	for _, c := range t.columns {
		t.cells = append(t.cells, spelled(c.cell(q)))
	}
	return t.Write(t.cells)
}

func (t *csvTable) Close() error {
	t.Flush()
	return t.Error()
}

// spelled is a value as CSV has it.
func spelled(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return number(v)
	case string:
		return save.Cell(v)
	}
	return fmt.Sprint(v)
}

// number writes a number with the digits that it takes to read it back.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// A parquetTable writes the rows in groups, since a group is in memory until it is full.
type parquetTable struct {
	*parquet.GenericWriter[any]
	columns []requestColumn
	row     parquet.Row
	values  int // in the group, about
	most    int
}

// groupValues is about how many values a group has: 30 MB of them.
const groupValues = 4 << 20

func newParquet(w io.Writer) table {
	columns := columnsOfRequests()
	return &parquetTable{
		GenericWriter: parquet.NewGenericWriter[any](w, schema(columns), parquet.Compression(&parquet.Zstd)),
		columns:       columns, most: groupValues,
	}
}

// schema has the columns in their order.
func schema(columns []requestColumn) *parquet.Schema {
	var fields []reflect.StructField
	for i := range columns {
		c := &columns[i]
		options, _, _ := strings.Cut(string(c.nulls), ",")
		switch {
		case c.list():
			options = "list"
		case c.zero == "" && c.name != "request_id":
			options += ",dict" // texts that many requests share
		}
		tag := fmt.Sprintf(`parquet:"%s,%s"`, c.name, options)
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("Column", i), Type: reflect.TypeOf(c.zero),
			Tag: reflect.StructTag(tag)})
	}
	return parquet.NewSchema("request", parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface()))
}

func (t *parquetTable) add(q *request) error {
	t.row = t.row[:0]
	for i := range t.columns {
		c := &t.columns[i]
		t.row = appendCells(t.row, i, c.cell(q), c.nulls != none)
	}
	if _, err := t.WriteRows([]parquet.Row{t.row}); err != nil {
		return err
	}
	if t.values += len(t.row); t.values < t.most {
		return nil
	}
	t.values = 0
	return t.Flush()
}

// appendCells appends the values that column i of a row has, with the levels of parquet: 1 is defined,
// where a value may be null, and 1 repeats within a list.
func appendCells(row parquet.Row, i int, v any, nullable bool) parquet.Row {
	switch v := v.(type) {
	case nil:
		return append(row, parquet.NullValue().Level(0, 0, i))
	case []float64:
		return appendList(row, i, v)
	case []int64:
		return appendList(row, i, v)
	}
	defined := 0
	if nullable {
		defined = 1
	}
	return append(row, parquet.ValueOf(v).Level(0, defined, i))
}

func appendList[T any](row parquet.Row, i int, list []T) parquet.Row {
	for k, v := range list {
		row = append(row, parquet.ValueOf(v).Level(min(k, 1), 1, i))
	}
	if len(list) == 0 {
		row = append(row, parquet.NullValue().Level(0, 0, i))
	}
	return row
}
