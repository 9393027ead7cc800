package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
)

// Append appends the fields of r as members of a JSON object, each after a comma, without those that have their usual
// value. It allocates nothing, apart from room in b, unless a text needs escapes or the record has a number with a
// fraction.
func Append(b []byte, r *Record) []byte { return appendFields(b, table, r) }

func appendFields(b []byte, fields []Field, r *Record) []byte {
	for i := range fields {
		if f := &fields[i]; f.Key != "" {
			b = f.append(b, r)
		}
	}
	return b
}

// append appends the field, unless it has its usual value.
func (f *Field) append(b []byte, r *Record) []byte {
	switch f.kind {
	default:
		if v, there := f.integer(r); there || f.always {
			b = strconv.AppendInt(f.appendKey(b), v, 10)
		}
	case kindFlag:
		if *f.flag(r) {
			b = append(f.appendKey(b), "true"...)
		}
	case kindSign:
		if f.there(r) {
			b = append(f.appendKey(b), "true"...)
		}
	case kindText, kindName:
		if text := *f.text(r); text != "" {
			b = AppendString(f.appendKey(b), text)
		}
	case kindBytes:
		if data := *f.bytes(r); len(data) > 0 {
			b = append(base64.StdEncoding.AppendEncode(append(f.appendKey(b), '"'), data), '"')
		}
	case kindJSON:
		if text := *f.bytes(r); len(text) > 0 && json.Valid(text) {
			b = appendJSON(f.appendKey(b), text)
		}
	case kindList:
		if list := *f.list(r); len(list) > 0 {
			b = f.appendKey(b)
			for i, n := range list {
				b = strconv.AppendInt(append(b, "[,"[min(i, 1)]), int64(n), 10)
			}
			b = append(b, ']')
		}
	case kindNumber:
		if v := *f.number(r); v != nil {
			b = appendNumber(f.appendKey(b), *v)
		}
	case kindAmount:
		if v := *f.amount(r); v != 0 {
			b = appendNumber(f.appendKey(b), v)
		}
	case kindObject:
		if f.there(r) {
			b = append(f.appendKey(b), '{')
			start := len(b)
			if b = appendFields(b, f.fields, r); len(b) > start {
				b = append(b[:start], b[start+1:]...) // without the first comma
			}
			b = append(b, '}')
		}
	}
	return b
}

// appendKey begins a member.
func (f *Field) appendKey(b []byte) []byte {
	return append(append(append(b, ',', '"'), f.Key...), '"', ':')
}

// appendNumber appends a number, which came from JSON.
func appendNumber(b []byte, v float64) []byte {
	text, _ := json.Marshal(v)
	return append(b, text...)
}

// appendJSON appends correct JSON as one line.
func appendJSON(b, text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		return append(b, text...)
	}
	line, _ := json.Marshal(json.RawMessage(text)) // it is correct
	return append(b, line...)
}

// AppendString appends a text as encoding/json writes it without escapes for HTML.
func AppendString(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			var escaped bytes.Buffer
			e := json.NewEncoder(&escaped)
			e.SetEscapeHTML(false)
			_ = e.Encode(text) // a text has no errors
			return append(b, bytes.TrimSuffix(escaped.Bytes(), []byte("\n"))...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// Parse reads the fields of a line in any form of JSON into r, which is empty. Members that no field has are skipped.
func Parse(line []byte, r *Record) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		return err
	}
	if err := parseFields(members, table, r); err != nil {
		return err
	}
	return r.settle()
}

func parseFields(members map[string]json.RawMessage, fields []Field, r *Record) error {
	for i := range fields {
		f := &fields[i]
		if f.Key == "" {
			continue
		}
		if value := members[f.Key]; value == nil || string(value) == "null" {
			f.lack(r)
		} else if err := f.parse(value, r); err != nil {
			return fmt.Errorf("%s: %w", f.Key, err)
		}
	}
	return nil
}

// parse reads the value of the field.
func (f *Field) parse(value json.RawMessage, r *Record) (err error) {
	switch f.kind {
	default:
		var n int64
		if err = json.Unmarshal(value, &n); err == nil {
			f.setInteger(r, n)
		}
		if f.kind == kindCount && max(n, -n) > MaxTokens {
			return errHuge
		}
	case kindFlag:
		err = json.Unmarshal(value, f.flag(r))
	case kindSign:
		var on bool
		if err = json.Unmarshal(value, &on); on {
			f.make(r)
		}
	case kindText, kindName:
		err = json.Unmarshal(value, f.text(r))
	case kindBytes:
		err = json.Unmarshal(value, f.bytes(r))
	case kindJSON:
		*f.bytes(r) = value
	case kindList:
		if err = json.Unmarshal(value, f.list(r)); hugeAmong(*f.list(r)) {
			return errHuge
		}
	case kindNumber:
		err = json.Unmarshal(value, f.number(r))
	case kindAmount:
		err = json.Unmarshal(value, f.amount(r))
	case kindObject:
		var members map[string]json.RawMessage
		if err = json.Unmarshal(value, &members); err == nil {
			f.make(r)
			err = parseFields(members, f.fields, r)
		}
	}
	return err
}

// errHuge says that a line has a number that no request comes to.
var errHuge = fmt.Errorf("a number is above %.0e", MaxTokens)

func hugeAmong(list []int) bool {
	for _, n := range list {
		if max(n, -n) > MaxTokens {
			return true
		}
	}
	return false
}

// settle ends the reading of a line. It is an error for stamps that cannot be.
func (r *Record) settle() error {
	if err := r.Answer.Chunks.settle(); err != nil {
		return err
	}
	r.Times.Last = r.Answer.Chunks.last
	return r.Answer.Blank.settle()
}
