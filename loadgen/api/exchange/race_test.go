//go:build race

package exchange_test

// raced says that this is a build with the race detector, whose sync.Pool drops what it gets at random.
const raced = true
