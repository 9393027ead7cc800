package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
)

// A build is servebench for one platform.
type build struct {
	platform
	binary []byte
	info   *debug.BuildInfo // its build information
	papers []file           // the licences, the README and the list of changes
}

const versionPackage = "github.com/servebench/servebench/cmd/servebench/internal/version"

// compile builds servebench for a platform in a folder, and returns the program's path.
// What is in it depends on the commit and the version of Go alone, not on the environment.
func (r *release) compile(p platform, folder string) (string, error) {
	name := filepath.Join(folder, p.program())
	linked := fmt.Sprintf("-s -w -X %[1]s.linked=%[2]s -X %[1]s.linkedCommit=%[3]s",
		versionPackage, r.version.described, r.commit)
	c := exec.Command("go", "build", "-trimpath", "-ldflags="+linked, "-o", name, "./cmd/servebench")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOEXPERIMENT=",
		"GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0")
	if text, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	return name, nil
}

// build builds servebench for a platform.
func (r *release) build(p platform) (*build, error) {
	folder, err := os.MkdirTemp("", "servebench-release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	name, err := r.compile(p, folder)
	if err != nil {
		return nil, err
	}
	b := &build{platform: p}
	if b.binary, err = os.ReadFile(name); err != nil {
		return nil, err
	}
	if b.info, err = buildinfo.Read(bytes.NewReader(b.binary)); err != nil {
		return nil, err
	}
	b.papers, err = papers(b.info)
	return b, err
}

// archive is the binary, its papers and its aids in one folder: a tar, or a zip for Windows.
func (r *release) archive(b *build) artifact {
	name := fmt.Sprintf("servebench-%s-%s-%s", r.version.number, b.os, b.arch)
	files := []file{{name + "/" + b.program(), 0o755, b.binary}}
	for _, f := range slices.Concat(b.papers, r.aids) {
		files = append(files, file{name + "/" + f.name, f.mode, f.data})
	}
	if b.os == "windows" {
		return artifact{name + ".zip", zipped(files, r.time)}
	}
	return artifact{name + ".tar.gz", gzipped(tarball(files, r.time))}
}
