package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
)

// A build is servebench for one platform.
type build struct {
	platform
	binary []byte
	info   *debug.BuildInfo // what is in it
	papers []file           // the licences, the README and the list of changes
}

const versionPackage = "github.com/servebench/servebench/cmd/servebench/internal/version"

// build builds servebench. What is in the binary depends on the commit and the version
// of Go alone, not on the environment.
func (r *release) build(p platform) (*build, error) {
	folder, err := os.MkdirTemp("", "servebench-release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, p.program())
	linked := fmt.Sprintf("-s -w -X %s.linked=%s -X %s.linkedCommit=%s", versionPackage, r.version.described, versionPackage, r.commit)
	compile := exec.Command("go", "build", "-trimpath", "-ldflags="+linked, "-o", name, "./cmd/servebench")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOEXPERIMENT=", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0")
	if text, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, text)
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

// archive is the binary and its papers in one folder: a tar, or a zip for Windows.
func (r *release) archive(b *build) artifact {
	name := fmt.Sprintf("servebench-%s-%s-%s", r.version.number, b.os, b.arch)
	files := []file{{b.program(), 0o755, b.binary}}
	files = append(files, b.papers...)
	for i := range files {
		files[i].name = name + "/" + files[i].name
	}
	if b.os == "windows" {
		return artifact{name + ".zip", zipped(files, r.time)}
	}
	return artifact{name + ".tar.gz", gzipped(tarball(files, r.time))}
}
