package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report"
	"github.com/servebench/servebench/report/save"
)

// Hgrm writes the percentiles of each latency of a run into a folder, which it makes: a
// file [TARGET-][alone-]RUN-LATENCY.hgrm each. A latency without values has none.
func Hgrm(dir string, s *metrics.Summary) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var errs []error
	for name, latency := range map[string]*metrics.Distribution{
		"ttft": &s.TTFT, "tpot": &s.TPOT, "itl": &s.ITL, "e2el": &s.E2EL, "queue": &s.Queue, "lag": &s.Lag,
	} {
		if latency.Len() == 0 {
			continue
		}
		write := func(w io.Writer) error { return report.Hgrm(w, latency) }
		errs = append(errs, save.Replace(filepath.Join(dir, hgrmName(s.Header, name)), 0o666, write))
	}
	return errors.Join(errs...)
}

// notInFileName are the characters that a name out of a record stream may not
// bring into that of a file.
var notInFileName = regexp.MustCompile(`[^A-Za-z0-9._-]`)

func hgrmName(h *metrics.Header, latency string) string {
	var parts []string
	if h.Target != "" {
		parts = append(parts, h.Target)
	}
	if h.Solo {
		parts = append(parts, "alone")
	}
	parts = append(parts, h.Run, latency)
	return notInFileName.ReplaceAllString(strings.Join(parts, "-"), "_") + ".hgrm"
}
