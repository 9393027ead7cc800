//go:build race

package main

// raced says that this is a build with the race detector, which takes several times the memory.
const raced = true
