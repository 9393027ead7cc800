package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	docker "github.com/google/go-containerregistry/pkg/v1/tarball"
)

// image is an image of one layer in the format of docker save, which ctr, podman and skopeo read.
// It has only servebench, because the binary includes certificates. It runs as a user other
// than root, so Kubernetes accepts it with runAsNonRoot. The Dockerfile makes the same image.
func (r *release) image(b *build) (artifact, error) {
	files := tarball(imageFiles(b), r.time)
	at := v1.Time{Time: r.time}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }
	layer, err := docker.LayerFromOpener(open, docker.WithCompressionLevel(gzip.BestCompression))
	if err != nil {
		return artifact{}, err
	}
	image, err := mutate.Append(empty.Image, mutate.Addendum{Layer: layer, History: v1.History{Created: at}})
	if err != nil {
		return artifact{}, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return artifact{}, err
	}
	config.Created, config.OS, config.Architecture = at, b.os, b.arch
	config.Config = v1.Config{
		User: "65532:65532", Env: []string{"PATH=/usr/bin"}, Entrypoint: []string{"servebench"}, WorkingDir: "/work",
		Labels: map[string]string{ // the OCI image specification's annotations.md
			"org.opencontainers.image.title":    "servebench",
			"org.opencontainers.image.source":   homepage,
			"org.opencontainers.image.version":  r.version.number,
			"org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return artifact{}, err
	}
	tag, err := name.NewTag("servebench:" + r.version.number)
	if err != nil {
		return artifact{}, err
	}
	var data bytes.Buffer
	err = docker.Write(tag, image, &data)
	return artifact{fmt.Sprintf("servebench-%s-%s-%s.image.tar", r.version.number, b.os, b.arch), data.Bytes()}, err
}

// imageFiles are the files of the image, each after its folder.
func imageFiles(b *build) []file {
	files := []file{
		{"tmp/", 0o777 | fs.ModeSticky, nil},
		{"usr/", 0o755, nil},
		{"usr/bin/", 0o755, nil},
		{"usr/bin/servebench", 0o755, b.binary},
		{"usr/share/", 0o755, nil},
		{"usr/share/doc/", 0o755, nil},
		{"usr/share/doc/servebench/", 0o755, nil},
		{"work/", 0o777 | fs.ModeSticky, nil},
	}
	for _, p := range b.papers {
		files = append(files, file{"usr/share/doc/servebench/" + p.name, p.mode, p.data})
	}
	return files
}
