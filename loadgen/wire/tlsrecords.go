package wire

// tlsHeader is the size of a record's header: type, version and, in two bytes,
// the length of what follows (RFC 8446, section 5.1).
const tlsHeader = 5

// A tlsRecords follows the records of a TLS connection by their headers. The zero value is before
// the first record.
type tlsRecords struct {
	header int    // bytes of a header so far
	length uint16 // from its last two bytes
	body   int    // bytes of the record still to come
}

// take follows what was read, and returns how many records ended in it.
func (t *tlsRecords) take(p []byte) (ended int) {
	for len(p) > 0 {
		if t.body > 0 {
			n := min(t.body, len(p))
			t.body, p = t.body-n, p[n:]
		} else {
			t.length, p = t.length<<8|uint16(p[0]), p[1:]
			if t.header++; t.header < tlsHeader {
				continue
			}
			t.header, t.body = 0, int(t.length)
		}
		if t.body == 0 {
			ended++
		}
	}
	return ended
}

// within reports whether a record has begun and not ended.
func (t *tlsRecords) within() bool { return t.header > 0 || t.body > 0 }
