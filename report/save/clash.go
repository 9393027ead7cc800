package save

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// Clash is an error if an output is one of the inputs, is there twice, or is a record stream: writing
// it would destroy what is read, the other output, or a recording. An input may be FILE:2 or FILE:2-5,
// which are runs of a file, or a folder, whose record streams count. Devices take several outputs;
// standard output, which is -, takes one.
func Clash(outputs, inputs []string) error {
	inputs = read(inputs)
	for i, out := range outputs {
		if info, err := os.Stat(out); out != "-" && err == nil && !info.Mode().IsRegular() {
			continue
		}
		for _, in := range inputs {
			if out != "-" && Same(out, in) {
				return fmt.Errorf("%s is read, and writing to it would destroy it: give another file", out)
			}
		}
		for _, other := range outputs[:i] {
			switch {
			case out == "-" && other == "-":
				return fmt.Errorf("- is there twice, and standard output takes one of them: give the other one a file")
			case Same(out, other):
				return fmt.Errorf("%s is there twice: give each output a separate file", out)
			}
		}
		if recorded(out) {
			return fmt.Errorf("%s is a record stream, and writing to it would destroy it: give another file", out)
		}
	}
	return nil
}

// recorded reports that a file is a record stream, by its beginning.
func recorded(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	begins := make([]byte, 32)
	n, _ := io.ReadFull(f, begins)
	return stream.Match(begins[:n])
}

// stream is how a record stream begins.
var stream = regexp.MustCompile(`^\{"v":\d+,"k":"run",`)

// some is the end of a name that means some runs of a file.
var some = regexp.MustCompile(`:\d+(-\d+)?$`)

// read are the files that inputs stand for.
func read(inputs []string) (files []string) {
	for _, name := range inputs {
		info, err := os.Stat(name)
		if err != nil {
			name = some.ReplaceAllString(name, "")
		}
		files = append(files, name)
		if err == nil && info.IsDir() {
			streams, _ := filepath.Glob(filepath.Join(name, "*.jsonl")) // none for a bad pattern
			files = append(files, streams...)
		}
	}
	return files
}

// Same reports whether two names are of the same file, which need not exist.
func Same(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}
