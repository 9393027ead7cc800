package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// The image has only servebench, because the binary includes certificates. It runs as a user other
// than root, so Kubernetes accepts it with runAsNonRoot. The Dockerfile makes the same image.
const (
	imageUser   = "65532:65532"
	imagePath   = "/usr/bin"
	imageFolder = "/work" // working folder of commands
)

// imageFiles are the files of the image.
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

// An imageConfig says how a container of the image starts: the OCI image specification's
// config.md.
type imageConfig struct {
	Created      time.Time `json:"created"`
	Architecture string    `json:"architecture"`
	OS           string    `json:"os"`
	Config       struct {
		User       string            `json:"User"`
		Env        []string          `json:"Env"`
		Entrypoint []string          `json:"Entrypoint"`
		WorkingDir string            `json:"WorkingDir"`
		Labels     map[string]string `json:"Labels"`
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// A descriptor points to a blob: the OCI image specification's descriptor.md.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// image is an image of one layer in the format of docker save since version 25: an OCI layout,
// which ctr, podman and skopeo read, with the manifest.json that an older docker needs.
func (r *release) image(b *build) artifact {
	layer := tarball(imageFiles(b), r.time)
	config := imageConfig{Created: r.time, Architecture: b.arch, OS: b.os}
	config.Config.User, config.Config.WorkingDir = imageUser, imageFolder
	config.Config.Env, config.Config.Entrypoint = []string{"PATH=" + imagePath}, []string{"servebench"}
	config.Config.Labels = r.labels()
	config.RootFS.Type, config.RootFS.DiffIDs = "layers", []string{digest(layer)}

	l := layout{at: r.time}
	layerAt := l.blob("application/vnd.oci.image.layer.v1.tar+gzip", gzipped(layer))
	configAt := l.blob("application/vnd.oci.image.config.v1+json", encoded(config))
	manifest := l.blob("application/vnd.oci.image.manifest.v1+json", encoded(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": configAt, "layers": []descriptor{layerAt},
	}))
	manifest.Annotations = map[string]string{
		"io.containerd.image.name":          "docker.io/library/servebench:" + r.version.number,
		"org.opencontainers.image.ref.name": r.version.number,
	}
	l.add("index.json", encoded(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []descriptor{manifest},
	}))
	l.add("manifest.json", encoded([]map[string]any{{
		"Config": blobName(configAt.Digest), "RepoTags": []string{"servebench:" + r.version.number}, "Layers": []string{blobName(layerAt.Digest)},
	}}))
	l.add("oci-layout", encoded(map[string]string{"imageLayoutVersion": "1.0.0"}))
	return artifact{fmt.Sprintf("servebench-%s-%s-%s.image.tar", r.version.number, b.os, b.arch), l.tar()}
}

// labels say where the image comes from, in the words of the OCI image specification's
// annotations.md.
func (r *release) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    "servebench",
		"org.opencontainers.image.source":   homepage,
		"org.opencontainers.image.version":  r.version.number,
		"org.opencontainers.image.revision": r.commit,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
}

// A layout is an OCI layout in the making: the OCI image specification's image-layout.md.
type layout struct {
	at    time.Time
	files []file
}

func (l *layout) add(name string, data []byte) {
	l.files = append(l.files, file{name, 0o644, data})
}

// blob adds data under the name of its digest.
func (l *layout) blob(mediaType string, data []byte) descriptor {
	d := descriptor{MediaType: mediaType, Digest: digest(data), Size: len(data)}
	l.add(blobName(d.Digest), data)
	return d
}

func (l *layout) tar() []byte {
	folders := []file{{"blobs/", 0o755, nil}, {"blobs/sha256/", 0o755, nil}}
	return tarball(slices.Concat(folders, l.files), l.at)
}

func digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// blobName is the path of a blob in a layout, by its digest.
func blobName(digest string) string { return "blobs/sha256/" + digest[len("sha256:"):] }

func encoded(v any) []byte {
	text, err := json.Marshal(v)
	must(err)
	return text
}
