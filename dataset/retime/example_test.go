package retime_test

import (
	"fmt"
	"log"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/retime"
)

// The second minute of a trace, ten times as fast.
func Example() {
	trace := func(yield func(*dataset.Conversation, error) bool) {
		for due := 0.0; due < 180; due += 25 {
			if !yield(&dataset.Conversation{ID: fmt.Sprint("at-", due), Due: &due}, nil) {
				return
			}
		}
	}
	minute, kept, left, err := retime.Window(trace, time.Minute, 2*time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(kept, "kept,", left, "left out")
	for c := range retime.Speed(minute, 10) {
		fmt.Println(c.ID, *c.Due)
	}
	// Output:
	// 2 kept, 6 left out
	// at-75 1.5
	// at-100 4
}
