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

// Hgrm writes the percentiles of each latency of a run into a folder, which it creates: one file
// [TARGET-][alone-]RUN-LATENCY.hgrm for each. A latency without samples has no file.
func Hgrm(dir string, s *metrics.Summary) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var errs []error
	for name, latency := range map[string]*metrics.Distribution{
		"ttft": &s.TTFT, "tpot": &s.TPOT, "itl": &s.ITL, "e2el": &s.E2EL, "queue": &s.Client.Queue, "lag": &s.Client.Lag,
	} {
		if latency.Len() == 0 {
			continue
		}
		write := func(w io.Writer) error { return report.Hgrm(w, latency) }
		errs = append(errs, save.Replace(filepath.Join(dir, hgrmName(s.Header, name)), 0o666, write))
	}
	return errors.Join(errs...)
}

// notInFileName are characters that a name from a record stream may not bring into a file name.
var notInFileName = regexp.MustCompile(`[^A-Za-z0-9._-]`)

func hgrmName(h *metrics.Header, latency string) string {
	var parts []string
	if h.Target != "" {
		parts = append(parts, h.Target)
	}
	if part := h.Part("-"); part != "" {
		parts = append(parts, part)
	}
	parts = append(parts, h.Run, latency)
	return notInFileName.ReplaceAllString(strings.Join(parts, "-"), "_") + ".hgrm"
}
