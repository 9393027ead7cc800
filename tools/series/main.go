// Series makes the same sequential sweep many times and counts the verdicts. It shows how often real
// servers that do not differ are called different, how often a known difference is found, and how
// many pairs that takes.
//
//	series -n 40 -o FOLDER -servebench bin/servebench SWEEP.yaml [-- flags of servebench sweep]
//
// Each sweep has its own copy of the file, with its number in place of ${series}, and its own folder. A
// series that was interrupted continues where it was: sweeps resume by themselves, and one that has
// its verdict gives it again at once.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/servebench/servebench/metrics/numpy"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("series: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := series{out: os.Stdout}
	flag.IntVar(&s.n, "n", 40, "`number` of sweeps")
	flag.StringVar(&s.dir, "o", "series", "`folder` of the sweeps")
	flag.StringVar(&s.program, "servebench", "servebench", "`program` to run")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("give the file of a sweep")
	}
	s.file, s.flags = flag.Arg(0), flag.Args()[1:]
	if err := s.run(ctx); err != nil {
		log.Fatal(err)
	}
}

// A series is many sweeps of one file.
type series struct {
	n             int
	dir           string
	program, file string
	flags         []string // of each sweep
	out           io.Writer
}

// A sweep is one of them, with its verdict.
type sweep struct {
	verdict string
	pairs   int
	took    time.Duration // of this session only, for a sweep that was resumed
}

// verdicts are the names of exit codes.
var verdicts = map[int]string{0: "PASS", 1: "REGRESSED", 3: "NO VERDICT"}

// run makes all sweeps that are left, and prints a line for each and the counts.
func (s *series) run(ctx context.Context) error {
	text, err := os.ReadFile(s.file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return err
	}
	var all []sweep
	for i := 1; i <= s.n; i++ {
		done, err := s.sweep(ctx, i, text)
		if err != nil {
			return fmt.Errorf("sweep %d: %w", i, err)
		}
		all = append(all, done)
		fmt.Fprintf(s.out, "%3d  %-10s  %2d pairs  %4.0f s\n", i, done.verdict, done.pairs, done.took.Seconds())
	}
	_, err = io.WriteString(s.out, tally(all))
	return err
}

// sweep makes or resumes the sweep of that number.
func (s *series) sweep(ctx context.Context, number int, text []byte) (sweep, error) {
	name := filepath.Join(s.dir, fmt.Sprintf("%03d", number))
	own := bytes.ReplaceAll(text, []byte("${series}"), []byte(strconv.Itoa(number)))
	if err := os.WriteFile(name+".yaml", own, 0o666); err != nil {
		return sweep{}, err
	}
	printed, err := os.OpenFile(name+".txt", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return sweep{}, err
	}
	defer printed.Close()
	cmd := exec.CommandContext(ctx, s.program, slices.Concat(
		[]string{"sweep", name + ".yaml", "--sequential", "-o", name + ".sweep"}, s.flags)...)
	cmd.Stdout, cmd.Stderr = printed, printed
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	began := time.Now()
	err = cmd.Run()
	verdict, known := verdicts[cmd.ProcessState.ExitCode()]
	if !known {
		return sweep{}, fmt.Errorf("%w: see %s.txt", err, name)
	}
	pairs, err := pairsOf(name + ".sweep")
	return sweep{verdict, pairs, time.Since(began)}, err
}

// pairsOf counts the pairs in the journal of a sweep of two arms: a line for each run, after one for
// the plan.
func pairsOf(dir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	return (bytes.Count(text, []byte("\n")) - 1) / 2, err
}

// tally counts verdicts, and the pairs and minutes that they took.
func tally(all []sweep) string {
	var text strings.Builder
	var pairs []float64
	var total time.Duration
	count := map[string]int{}
	for _, one := range all {
		count[one.verdict]++
		pairs = append(pairs, float64(one.pairs))
		total += one.took
	}
	slices.Sort(pairs)
	fmt.Fprintf(&text, "%d sweeps: %d PASS, %d REGRESSED, %d NO VERDICT; pairs: mean %.1f, median %v, most %v; %.1f "+
		"minutes\n",
		len(all), count["PASS"], count["REGRESSED"], count["NO VERDICT"], numpy.Mean(pairs), numpy.Median(pairs),
		pairs[len(pairs)-1], total.Minutes())
	return text.String()
}
