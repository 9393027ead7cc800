package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"strings"
	"time"
)

// A file is one in an archive: a folder if its name ends with a slash.
type file struct {
	name string
	mode fs.FileMode
	data []byte
}

func (f file) folder() bool { return strings.HasSuffix(f.name, "/") }

// tarball is a tar of files, which belong to root.
func tarball(files []file, at time.Time) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		kind := byte(tar.TypeReg)
		if f.folder() {
			kind = tar.TypeDir
		}
		must(w.WriteHeader(&tar.Header{
			Typeflag: kind, Name: f.name, Mode: tarMode(f.mode), Size: int64(len(f.data)),
			ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
		}))
		written(w.Write(f.data))
	}
	must(w.Close())
	return b.Bytes()
}

// tarMode has the permissions and the sticky bit where tar keeps them.
func tarMode(mode fs.FileMode) int64 {
	if mode&fs.ModeSticky != 0 {
		return int64(mode.Perm()) | 0o1000
	}
	return int64(mode.Perm())
}

// zipped is a zip of files.
func zipped(files []file, at time.Time) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode)
		entry, err := w.CreateHeader(header)
		must(err)
		written(entry.Write(f.data))
	}
	must(w.Close())
	return b.Bytes()
}

// gzipped is data in gzip's format, without a name or a time.
func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	must(err)
	written(io.Copy(w, bytes.NewReader(data)))
	must(w.Close())
	return b.Bytes()
}

// must panics: writing to memory fails only if this program asks for something that a format cannot
// represent.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func written[N int | int64](_ N, err error) { must(err) }
