//go:build race

package openai

// raced says that this is a build with the race detector, whose sync.Pool drops what it gets at random.
const raced = true
