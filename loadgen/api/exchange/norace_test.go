//go:build !race

package exchange_test

const raced = false
