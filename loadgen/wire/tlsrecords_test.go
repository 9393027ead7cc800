package wire

import "testing"

func TestTLSRecordsAreFollowed(t *testing.T) {
	stream := []byte{22, 3, 3, 0, 2, 'a', 'b', 23, 3, 3, 0, 0, 23, 3, 3, 1, 1}
	stream = append(stream, make([]byte, 257)...)
	ends := map[int]bool{7: true, 12: true, len(stream): true}
	for step := 1; step <= len(stream); step++ {
		var records tlsRecords
		for lo := 0; lo < len(stream); lo += step {
			hi, want := min(lo+step, len(stream)), 0
			for end := range ends {
				if lo < end && end <= hi {
					want++
				}
			}
			if got := records.take(stream[lo:hi]); got != want || records.within() == ends[hi] {
				t.Errorf("bytes %d to %d: %d records ended, within one %t", lo, hi, got, records.within())
			}
		}
	}
}
