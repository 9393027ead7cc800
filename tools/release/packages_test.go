package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	docker "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// small is a release of a program that is one line, for a platform.
func small(t *testing.T, name string) (*release, *build) {
	t.Helper()
	v, err := parseVersion("v0.2.0")
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := choose(name)
	if err != nil {
		t.Fatal(err)
	}
	return &release{version: v, commit: "1234abc", time: time.Unix(1790000000, 0).UTC(), aids: []file{
			{"man/servebench.1", 0o644, []byte(".TH\n")}, {"completions/_servebench", 0o644, []byte("#compdef\n")},
		}}, &build{
			platform: chosen[0],
			binary:   []byte("a program\n"),
			info:     &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "example.com/p"}, Deps: []*debug.Module{{Path: "example.com/d", Version: "v1.0.0", Sum: "h1:AAAA"}}},
			papers:   []file{{"LICENSE", 0o644, []byte("a licence\n")}, {"README.md", 0o644, []byte("read\n")}, {noticesName, 0o644, []byte("uPlot 1.6.32, of npm\n")}},
		}
}

func TestWheelHasTheProgramAndARecordOfItsFiles(t *testing.T) {
	for platform, program := range map[string]string{"linux/arm64": "servebench", "windows/amd64": "servebench.exe"} {
		r, b := small(t, platform)
		wheel := r.wheel(b)
		if want := "servebench-0.2.0-py3-none-" + b.platform.wheel + ".whl"; wheel.name != want {
			t.Errorf("its name is %s, want %s", wheel.name, want)
		}
		in, err := zip.NewReader(bytes.NewReader(wheel.data), int64(len(wheel.data)))
		if err != nil {
			t.Fatal(err)
		}
		var record, tags strings.Builder
		for _, f := range in.File {
			data, err := fs.ReadFile(in, f.Name)
			if err != nil {
				t.Fatal(err)
			}
			if executable := f.Mode()&0o111 != 0; executable != (f.Name == "servebench-0.2.0.data/scripts/"+program) {
				t.Errorf("%s is %v", f.Name, f.Mode())
			}
			switch sum := sha256.Sum256(data); f.Name {
			case "servebench-0.2.0.dist-info/RECORD":
				if want := record.String() + f.Name + ",,\n"; string(data) != want {
					t.Errorf("RECORD (-want +got):\n%s", cmp.Diff(want, string(data)))
				}
			case "servebench-0.2.0.dist-info/WHEEL":
				for _, tag := range strings.Split(string(data), "Tag: py3-none-")[1:] {
					tags.WriteString("." + strings.TrimSpace(tag))
				}
				fallthrough
			default:
				fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
			}
		}
		if tags.String() != "."+b.platform.wheel {
			t.Errorf("WHEEL has the tags %s, its name has %s", tags.String(), b.platform.wheel)
		}
	}
}

func TestImageHasItsFilesForItsPlatform(t *testing.T) {
	r, b := small(t, "linux/arm64")
	image, err := r.image(b)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), image.name)
	if err := os.WriteFile(path, image.data, 0o600); err != nil {
		t.Fatal(err)
	}
	files, config := imageOf(t, path)
	if config.OS != "linux" || config.Architecture != "arm64" {
		t.Errorf("it is for %s on %s", config.OS, config.Architecture)
	}
	modes := map[string]fs.FileMode{}
	for _, f := range files {
		modes[f.name] = f.mode
	}
	for name, want := range map[string]fs.FileMode{"usr/bin/servebench": 0o755, "tmp/": 0o777 | fs.ModeSticky, "work/": 0o777 | fs.ModeSticky} {
		if modes[name] != want {
			t.Errorf("%s is %v, want %v", name, modes[name], want)
		}
	}
}

func TestDebianPackageInstallsItsFiles(t *testing.T) {
	r, b := small(t, "linux/arm64")
	deb, err := r.deb(b)
	if want := "servebench_0.2.0_arm64.deb"; err != nil || deb.name != want {
		t.Errorf("its name is %s, want %s: %v", deb.name, want, err)
	}
	var installed []string
	for _, f := range r.debFiles(b) {
		installed = append(installed, f.name)
	}
	for _, name := range []string{"/usr/bin/servebench", "/usr/share/man/man1/servebench.1.gz", "/usr/share/zsh/vendor-completions/_servebench", "/usr/share/doc/servebench/copyright"} {
		if !slices.Contains(installed, name) {
			t.Errorf("it lacks %s of %q", name, installed)
		}
	}
}

func TestBillNamesModulesGoAndUPlot(t *testing.T) {
	r, b := small(t, "darwin/arm64")
	var bill struct {
		Metadata   struct{ Component component }
		Components []component
	}
	decode(t, r.bill(b).data, &bill)
	got := []string{bill.Metadata.Component.PURL}
	for _, c := range bill.Components {
		got = append(got, c.PURL)
	}
	want := []string{"pkg:golang/example.com/p@v0.2.0", "pkg:golang/std@1.26.8", "pkg:golang/example.com/d@v1.0.0", "pkg:npm/uplot@1.6.32"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if sum := sha256.Sum256(b.binary); bill.Metadata.Component.Hashes[0]["content"] != fmt.Sprintf("%x", sum) {
		t.Errorf("the program has the hashes %v, want %x", bill.Metadata.Component.Hashes, sum)
	}
}

func TestPlatformsAreThoseOfTheList(t *testing.T) {
	for list, want := range map[string]int{"": len(platforms), "linux/amd64": 1, "windows/amd64,darwin/arm64": 2} {
		if chosen, err := choose(list); err != nil || len(chosen) != want {
			t.Errorf("%q: %v, %v; want %d", list, chosen, err, want)
		}
	}
	if chosen, err := choose("linux/amd64,plan9/386"); err == nil || !strings.Contains(err.Error(), "plan9/386: it must be among") {
		t.Errorf("%v, %v", chosen, err)
	}
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// imageOf are the files of an image, and its configuration, found as docker load finds them.
func imageOf(t *testing.T, path string) ([]file, *v1.ConfigFile) {
	t.Helper()
	image, err := docker.ImageFromPath(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(image); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, want one: %v", len(layers), err)
	}
	files, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	return untar(t, files), config
}

// untar are the files of a tar.
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
