//go:build release

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRelease makes what a release has for this platform, and tries each of its files as
// its user would, where nothing else of servebench is.
func TestRelease(t *testing.T) {
	t.Chdir("../..")
	dist := t.TempDir()
	made := []string{"-version", "v1.2.3-rc.1", "-commit", "0123456789abcdef0123456789abcdef01234567", "-time", "1790000000", "-only", "linux/" + runtime.GOARCH}
	if err := run(append(made, "-out", dist)); err != nil {
		t.Fatal(err)
	}
	const version = "1.2.3-rc.1"
	t.Run("make build", func(t *testing.T) {
		tool(t, "make", "build")
		binary, err := os.ReadFile("bin/servebench")
		if err != nil {
			t.Fatal(err)
		}
		root := unpack(t, []file{{"servebench", 0o755, binary}})
		described := strings.TrimSpace(tool(t, "git", "describe", "--tags", "--always", "--dirty"))
		place{root: root, program: "/servebench", folder: "/"}.works(t, strings.TrimPrefix(described, "v"))
	})
	t.Run("archive", func(t *testing.T) {
		root := t.TempDir()
		tool(t, "tar", "xzf", only(t, dist, "*.tar.gz"), "-C", root, "--strip-components=1")
		place{root: root, program: "/servebench", folder: "/"}.works(t, version)
	})
	t.Run("image", func(t *testing.T) {
		files, config := imageOf(t, only(t, dist, "*.image.tar"))
		root := unpack(t, files)
		place{root: root, program: "/usr/bin/servebench", folder: config.Config.WorkingDir, user: 65532, env: config.Config.Env}.works(t, version)
	})
	t.Run("Dockerfile", func(t *testing.T) {
		files, config := imageOf(t, only(t, dist, "*.image.tar"))
		dockerfileMakes(t, files, config)
	})
	t.Run("wheel", func(t *testing.T) {
		venv := t.TempDir()
		tool(t, "python3", "-m", "venv", venv)
		tool(t, venv+"/bin/pip", "install", "--no-index", "--find-links", dist, "servebench")
		place{program: venv + "/bin/servebench", folder: t.TempDir()}.works(t, version)
		for _, platform := range strings.Split(wheelTags(t), ".") {
			tool(t, venv+"/bin/pip", "download", "--no-index", "--find-links", dist, "--dest", t.TempDir(), "--only-binary", ":all:", "--platform", platform, "servebench")
		}
	})
	t.Run("Debian package", func(t *testing.T) {
		root := t.TempDir()
		for _, folder := range []string{"info", "updates", "triggers"} {
			if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", folder), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		tool(t, "dpkg", "--root="+root, "--force-not-root", "--install", only(t, dist, "*.deb"))
		if out := tool(t, "dpkg", "--root="+root, "--verify", "servebench"); out != "" {
			t.Errorf("dpkg --verify: %s", out)
		}
		place{root: root, program: "/usr/bin/servebench", folder: "/"}.works(t, version)
	})
	t.Run("checksums", func(t *testing.T) {
		c := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
		c.Dir = dist
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("the same bytes again", func(t *testing.T) {
		again := t.TempDir()
		t.Setenv("GOFLAGS", "-buildvcs=true")
		if err := run(append(made, "-out", again)); err != nil {
			t.Fatal(err)
		}
		tool(t, "cmp", filepath.Join(dist, "SHA256SUMS"), filepath.Join(again, "SHA256SUMS"))
	})
}

// only is the one file of a folder with such a name.
func only(t *testing.T, folder, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %q %v, want one", pattern, names, err)
	}
	return names[0]
}

func wheelTags(t *testing.T) string {
	chosen, err := choose("linux/" + runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	return chosen[0].wheel
}

// imageOf are the files of an image, and its configuration, found as docker load finds
// them.
func imageOf(t *testing.T, name string) ([]file, imageConfig) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{}
	for _, f := range untar(t, bytes.NewReader(text)) {
		parts[f.name] = f.data
	}
	var images []struct {
		Config string
		Layers []string
	}
	var config imageConfig
	if err := errors.Join(json.Unmarshal(parts["manifest.json"], &images), json.Unmarshal(parts[images[0].Config], &config)); err != nil {
		t.Fatal(err)
	}
	layer, err := gzip.NewReader(bytes.NewReader(parts[images[0].Layers[0]]))
	if err != nil {
		t.Fatal(err)
	}
	return untar(t, layer), config
}

// dockerfileMakes makes sure that the Dockerfile, without docker, makes an image of such
// files that starts in the same way.
func dockerfileMakes(t *testing.T, files []file, config imageConfig) {
	t.Helper()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	building, last, _ := strings.Cut(strings.ReplaceAll(string(text), "\\\n", ""), "\nFROM scratch\n")
	want := []string{"COPY --from=build /image/ /", "ENV " + config.Config.Env[0], "USER " + config.Config.User,
		"WORKDIR " + config.Config.WorkingDir, `ENTRYPOINT ["` + config.Config.Entrypoint[0] + `"]`}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(last), "\n")); diff != "" {
		t.Errorf("after FROM scratch (-want +got):\n%s", diff)
	}
	root := t.TempDir()
	for line := range strings.Lines(building) {
		if command, ok := strings.CutPrefix(line, "RUN "); ok {
			tool(t, "sh", "-c", strings.ReplaceAll(command, "/image", root))
		}
	}
	for _, f := range files {
		made, err := os.Stat(filepath.Join(root, f.name))
		if err != nil || made.Mode()&^fs.ModeDir != f.mode {
			t.Errorf("%s: the Dockerfile makes %v %v, want %v", f.name, made, err, f.mode)
		}
	}
}

func untar(t *testing.T, r io.Reader) (files []file) {
	t.Helper()
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{h.Name, h.FileInfo().Mode() &^ fs.ModeDir, data})
	}
}
