package main

import (
	"bufio"
	"context"
	"errors"
	goflag "flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	// Scripts wait for the times of their loads more than they work.
	if err := goflag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	testscript.Main(tidy{m}, map[string]func(){
		"servebench": func() {
			limitFiles(os.Getenv("FILE_LIMIT"))
			os.Exit(servebench(context.Background(), os.Args[1:]))
		},
		"gh-stand-in": standIn(standInGH), "docker-stand-in": standIn(standInDocker),
	})
}

// tidy runs the tests, and fails if they leave a file in the folder of the
// package: the next run would find it, as a sweep finds its own folder.
type tidy struct{ *testing.M }

func (m tidy) Run() int {
	before := packageFiles()
	code := m.M.Run()
	for _, name := range packageFiles() {
		if !slices.Contains(before, name) {
			fmt.Fprintf(os.Stderr, "a test left %s in the folder of its package\n", name)
			code = max(code, 1)
		}
	}
	return code
}

func packageFiles() []string {
	files, err := filepath.Glob("*")
	if err != nil {
		panic(err)
	}
	return files
}

func TestScripts(t *testing.T) {
	testscript.Run(t, scripts("testdata/script"))
}

func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir:           dir,
		UpdateScripts: *update, // what cmp compares with
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs("../../testdata")
			env.Setenv("DATA", root)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server":    startServer,
			"servers":   startServers,
			"await":     awaitRunning,
			"insist":    insist,
			"halt":      halt,
			"awaitfile": awaitFile,
			"files":     countFiles,
			"exits":     exits,
			"steady":    writeSteady,
			"inshards":  inShards,
			"telltale":  startTelltale,
			"strict":    startStrict,
			"llamacpp":  startLlamaCpp,
			"hidden":    checkHidden,
			"concealed": checkArguments,
			"private":   checkPrivate,
			"dialogue":  writeDialogue,
		},
	}
}

// startServer runs servebench sim with the arguments given until the end of the
// script, and puts its URL into $URL.
func startServer(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithCancel(context.Background())
	url, wait, err := launchSim(ctx, args)
	ts.Defer(cancel)
	ts.Check(err)
	ts.Setenv("URL", url)
	ts.Defer(func() {
		cancel()
		if err := wait(); err != nil {
			ts.Fatalf("servebench sim: %v", err)
		}
	})
}

// startServers runs so many servers that share a GPU until the end of the script,
// and puts their URLs into $URL, $URL2 and so on.
func startServers(ts *testscript.TestScript, _ bool, args []string) {
	ready := ts.MkAbs("servers")
	startServer(ts, false, []string{"--servers", args[0], "--ready-file", ready})
	for i, url := range strings.Fields(ts.ReadFile(ready)) {
		if i > 0 {
			ts.Setenv(fmt.Sprintf("URL%d", i+1), url)
		}
	}
}

// awaitRunning waits until the server at $URL runs as many requests at least.
func awaitRunning(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.ParseFloat(args[0], 64)
	ts.Check(err)
	if !eventually(func() bool { return requestsRunning(ts) >= want }) {
		ts.Fatalf("the server never ran %s requests", args[0])
	}
}

// patience is how long a test waits for an event that has to come. It only keeps a
// broken test from hanging.
const patience = 2 * time.Minute

// eventually looks again and again until f is true, and says whether it ever was.
func eventually(f func() bool) bool {
	for end := time.Now().Add(patience); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func requestsRunning(ts *testscript.TestScript) float64 {
	reply, err := http.Get(ts.Getenv("URL") + "/metrics")
	ts.Check(err)
	defer reply.Body.Close()
	for lines := bufio.NewScanner(reply.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "vllm:num_requests_running{"); ok {
			_, value, _ = strings.Cut(value, "} ")
			n, err := strconv.ParseFloat(value, 64)
			ts.Check(err)
			return n
		}
	}
	return 0
}

// insist interrupts the script's background commands again and again until they
// have ended.
func insist(ts *testscript.TestScript, _ bool, _ []string) {
	ended := func() bool {
		going := false
		for _, cmd := range ts.BackgroundCmds() {
			going = cmd.Process.Signal(os.Interrupt) == nil || going
		}
		return !going
	}
	if !eventually(ended) {
		ts.Fatalf("interrupts have no effect")
	}
}

// halted is for how long halt stops a command: longer than a busy machine lets it wait for a core.
// It is what a test waits in real time, since nothing can be faked about a process that does not run.
const halted = 2 * time.Second

// halt stops the script's background commands for a while.
func halt(ts *testscript.TestScript, _ bool, _ []string) {
	signal := func(s os.Signal) {
		for _, cmd := range ts.BackgroundCmds() {
			ts.Check(cmd.Process.Signal(s))
		}
	}
	signal(stopSignal)
	time.Sleep(halted)
	signal(continueSignal)
}

// awaitFile waits until a file is there, and has a text if one is given.
func awaitFile(ts *testscript.TestScript, _ bool, args []string) {
	want := strings.Join(args[1:], " ")
	there := func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && strings.Contains(string(text), want)
	}
	if !eventually(there) {
		ts.Fatalf("%s with %q never came", args[0], want)
	}
}

// countFiles checks how many files a folder has.
func countFiles(ts *testscript.TestScript, _ bool, args []string) {
	files, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if fmt.Sprint(len(files)) != args[1] {
		ts.Fatalf("%s has %d files, want %s: %v", args[0], len(files), args[1], files)
	}
}

// exits runs a command that ends with the exit code given, or one of several.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err, code := ts.Exec(args[1], args[2:]...), 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	ts.Check(err)
	if !slices.Contains(strings.Split(args[0], ","), strconv.Itoa(code)) {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// writeDialogue runs each command in a golden text, a line after "$ ", which must end with the exit code given, and
// writes the commands with what they print into a file: the golden text compares with it.
func writeDialogue(ts *testscript.TestScript, _ bool, args []string) {
	var got strings.Builder
	words := regexp.MustCompile(`'[^']*'|\S+`)
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			parts := []string{args[0]}
			for _, word := range words.FindAllString(command, -1) {
				parts = append(parts, strings.Trim(word, "'"))
			}
			exits(ts, false, parts)
			got.WriteString(line + ts.ReadFile("stdout") + ts.ReadFile("stderr"))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(got.String()), 0o600))
}

// machines are the parts of a text that differ from run to run, and what is in their place in a golden text.
var machines = []struct {
	part *regexp.Regexp
	in   string
}{
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "URL"},
	{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "ID"},
	{regexp.MustCompile(`\b\d+\.\d+\b`), "N"},
	{regexp.MustCompile(` +N`), " N"},
	{regexp.MustCompile(`N +\n`), "N\n"},
}

// writeSteady writes stdout or stderr into a file, with the same text in the place of what differs from run to run:
// a golden text compares with it.
func writeSteady(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	for _, m := range machines {
		text = m.part.ReplaceAllString(text, m.in)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}
