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
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)),
			ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
		}
		if f.folder() {
			header.Typeflag = tar.TypeDir
		}
		if f.mode&fs.ModeSticky != 0 {
			header.Mode |= 0o1000
		}
		must(w.WriteHeader(header))
		written(w.Write(f.data))
	}
	must(w.Close())
	return b.Bytes()
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
