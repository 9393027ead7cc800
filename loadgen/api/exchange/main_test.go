package exchange_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// netHTTP says whether the tests leave HTTP/1.1 to net/http.
var netHTTP bool

// TestMain runs all tests over our own HTTP/1.1, and then over net/http, except with -short: they must see the same.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if alone := flag.Lookup("test.fuzz").Value.String() + flag.Lookup("test.bench").Value.String() + flag.Lookup("test.list").Value.String(); code == 0 && alone == "" && !testing.Short() {
		fmt.Println("once more, over net/http:")
		netHTTP = true
		code = m.Run()
	}
	os.Exit(code)
}
