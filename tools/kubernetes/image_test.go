package kubernetes

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"testing"
)

// pauseImage is what a pod's sandbox runs, which holds the pod's network.
const pauseImage = "servebench.invalid/pause:1"

// pause is an archive of pauseImage: this test program by the name of pause.
func (c *cluster) pause(t *testing.T) (archive string) {
	t.Helper()
	archive = c.path("pause.tar")
	if _, err := os.Stat(archive); err == nil {
		return archive
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	layer := tarball(t, file{"pause", 0o755, program})
	config := encoded(t, map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{"Entrypoint": []string{"/pause"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	manifest := encoded(t, []any{map[string]any{"Config": "config.json", "RepoTags": []string{pauseImage}, "Layers": []string{"layer.tar"}}})
	whole := tarball(t, file{"manifest.json", 0o644, manifest}, file{"config.json", 0o644, config}, file{"layer.tar", 0o644, layer})
	if err := os.WriteFile(archive, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	return archive
}

// A file is one of an archive.
type file struct {
	name string
	mode int64
	text []byte
}

func tarball(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
