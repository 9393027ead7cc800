package hf

import (
	"github.com/servebench/servebench/dataset/nprand"
)

// The buffer of a stream, as the library datasets 5 has it.
const (
	bufferRows = 1000 // it is shuffled when it has that many rows, and half of that stays
	bufferRead = 100  // rows that it takes at once from one part of the files
	bufferFrom = 10   // parts that it takes from in turn
)

// shuffled is the order of the rows after .shuffle(seed) of the library datasets 5.2.0. lens are the
// rows of each file.
func shuffled(lens []int, seed uint64) []int {
	total := 0
	for _, n := range lens {
		total += n
	}
	rng := nprand.NewGenerator(seed)
	return rng.Permutation(total)
}

// streamed is the order in which that library's stream has the rows after .shuffle(seed): the files
// come in another order, up to ten parts of them are read in turn, and a buffer is shuffled again and
// again.
func streamed(lens []int, seed uint64) []int {
	rng := nprand.NewGenerator(seed)
	var order, buffer []int
	for _, rows := range interleaved(lens, seed) {
		if buffer = append(buffer, rows...); len(buffer) < bufferRows {
			continue
		}
		buffer = permuted(&rng, buffer)
		given := len(buffer) - bufferRows/2
		order = append(order, buffer[:given]...)
		buffer = buffer[given:]
	}
	return append(order, permuted(&rng, buffer)...)
}

// permuted is a list in random order.
func permuted(rng *nprand.Generator, list []int) []int {
	order := rng.Permutation(len(list))
	for i, from := range order {
		order[i] = list[from]
	}
	return order
}

// interleaved is the rows of files as the buffer takes them, some at once.
func interleaved(lens []int, seed uint64) (taken [][]int) {
	parts := parted(lens, seed)
	for len(parts) > 0 {
		left := parts[:0]
		for _, rows := range parts {
			n := min(bufferRead, len(rows))
			if n > 0 {
				taken = append(taken, rows[:n])
			}
			if n < len(rows) {
				left = append(left, rows[n:])
			}
		}
		parts = left
	}
	return taken
}

// parted is the rows of files in random order, cut between files into parts of as many files, the
// first of one more.
func parted(lens []int, seed uint64) [][]int {
	rng := nprand.NewGenerator(seed)
	files := rng.Permutation(len(lens))
	firsts := make([]int, len(lens))
	for i := 1; i < len(lens); i++ {
		firsts[i] = firsts[i-1] + lens[i-1]
	}
	n := min(len(files), bufferFrom)
	parts := make([][]int, n)
	for i := range parts {
		share := len(files) / (n - i)
		if len(files)%(n-i) > 0 {
			share++
		}
		for _, file := range files[:share] {
			for row := range lens[file] {
				parts[i] = append(parts[i], firsts[file]+row)
			}
		}
		files = files[share:]
	}
	return parts
}
