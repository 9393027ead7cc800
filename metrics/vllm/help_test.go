package vllm

import (
	"bufio"
	"io"
	"os"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// top is the folder of the module, from here.
var top = func() string {
	dir := ".."
	for {
		if _, err := os.Stat(dir + "/go.mod"); err == nil {
			return dir
		}
		dir += "/.."
	}
}()

// writeResult writes what vLLM has in a result file.
func writeResult(w io.Writer, s *metrics.Summary, v Version) error {
	_, err := w.Write(pyjson.Append(nil, Result(s, v)))
	return err
}

// read sums up the blocks in a text.
func read(r io.Reader, ask metrics.Ask) ([]*metrics.Summary, error) {
	var blocks BlockReader
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		blocks.Line(lines.Text())
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return blocks.Summaries(ask)
}
