//go:build live && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics/record"
)

// HdrHistogram's own Java tools find in an interval log what servebench prints as the
// percentiles of the run.
func TestLiveHdrHistogramReadsWhatIsLogged(t *testing.T) {
	jar := hdrHistogram(t)
	url, wait := startSim(t, t.Context(), "--step-base", "1ms")
	t.Cleanup(func() {
		if err := wait(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	log, records, percentiles := filepath.Join(dir, "run.hlog"), filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "percentiles")
	command(t, "servebench", "run", "--target", "a="+url, "--target", "b="+url, "--num-prompts", "150", "--request-rate", "100",
		"--random-input-len", "20", "--random-output-len", "10", "--hlog", log, "-o", records)
	command(t, "servebench", "report", "--hgrm", percentiles, records)

	_, list, _ := strings.Cut(command(t, "java", "-cp", jar, "org.HdrHistogram.HistogramLogProcessor", "-i", log, "-listtags"), ":")
	tags := strings.Fields(list)
	var want []string
	for _, name := range record.LatencyNames {
		want = append(want, "a."+name, "b."+name)
		out := filepath.Join(dir, name)
		command(t, "java", "-cp", jar, "org.HdrHistogram.HistogramLogProcessor", "-i", log, "-tag", "b."+name, "-outputValueUnitRatio", "1000000", "-o", out)
		ours, err := filepath.Glob(filepath.Join(percentiles, "b-*-"+name+".hgrm"))
		if err != nil || len(ours) != 1 {
			t.Fatalf("%s has the files %q: %v", name, ours, err)
		}
		theirs := rowsOf(t, out+".hgrm")
		if diff := cmp.Diff(theirs, rowsOf(t, ours[0])); len(theirs) < 5 || diff != "" {
			t.Errorf("%s: -HdrHistogram's +ours:\n%s", name, diff)
		}
	}
	slices.Sort(want)
	if slices.Sort(tags); !slices.Equal(tags, want) {
		t.Errorf("the log has the tags %q, want %q", tags, want)
	}
}

// hdrHistogramVersion is one of org.hdrhistogram:HdrHistogram.
const hdrHistogramVersion = "2.2.2"

// hdrHistogram is the archive of HdrHistogram's classes, which Maven fetches once.
func hdrHistogram(t *testing.T) (jar string) {
	t.Helper()
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("there is no java: apt-get install default-jre-headless")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "servebench-hdrhistogram")
	jar = filepath.Join(dir, "HdrHistogram-"+hdrHistogramVersion+".jar")
	if _, err := os.Stat(jar); err == nil {
		return jar
	}
	fetch := exec.CommandContext(t.Context(), "mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
		"-Dartifact=org.hdrhistogram:HdrHistogram:"+hdrHistogramVersion, "-DoutputDirectory="+dir)
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Skipf("Maven does not fetch HdrHistogram's classes: %v\n%s", err, out)
	}
	return jar
}

// hgrmEnd is a line at the end of a .hgrm file.
var hgrmEnd = regexp.MustCompile(`^#\[(Mean|Max|Buckets)`)

// rowsOf are the values, percentiles and counts of a .hgrm file, and the lines at its end.
// HdrHistogram for Java writes a percentile with twelve digits, and for Go with six.
func rowsOf(t *testing.T, file string) (rows []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var value, percentile float64
		var count int
		if n, _ := fmt.Sscan(line, &value, &percentile, &count); n == 3 {
			rows = append(rows, fmt.Sprintf("%.3f %.6f %d", value, percentile, count))
		} else if hgrmEnd.MatchString(line) {
			rows = append(rows, line)
		}
	}
	return rows
}

// command runs a program that succeeds, and gives its stdout.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s\n%s", name, args, err, out, &talk)
	}
	return string(out)
}
