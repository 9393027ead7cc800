package wiretest_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"

	"github.com/servebench/servebench/loadgen/wire/wiretest"
)

func ExampleDialRaw() {
	conn, _ := wiretest.DialRaw([]byte(wiretest.Whole("200 OK", "Hi")))(nil, "tcp", "server.test:80")
	defer conn.Close()
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: server.test\r\n\r\n")
	reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
	fmt.Println(reply.Status, reply.ContentLength, err)
	// Output: 200 OK 2 <nil>
}
