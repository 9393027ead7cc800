package truth_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/servebench/servebench/tools/peers/truth"
)

// The server notes an answer of three chunks.
func ExampleServe() {
	stop, end, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	defer stop.Close()
	out, in := io.Pipe()
	go func() {
		in.CloseWithError(truth.Serve(truth.Script{ITL: time.Millisecond}, stop, in))
	}()
	said := bufio.NewReader(out)
	var port int
	if _, err := fmt.Fscanln(said, &port); err != nil {
		log.Fatal(err)
	}
	url := fmt.Sprintf("http://127.0.0.1:%d/v1/completions", port)
	reply, err := http.Post(url, "application/json", strings.NewReader(`{"max_tokens": 3}`))
	if err != nil {
		log.Fatal(err)
	}
	_, err = io.Copy(io.Discard, reply.Body)
	reply.Body.Close()
	end.Close()
	var what truth.Truth
	if err := json.NewDecoder(said).Decode(&what); err != nil {
		log.Fatal(err)
	}
	fmt.Println(what.Requests, what.Chunks, what.ITL.Mean >= 1, err)
	// Output: 1 3 true <nil>
}
