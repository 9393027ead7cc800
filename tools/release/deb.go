package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"path"
	"time"
)

// maintainer is the maintainer of the Debian package.
const maintainer = "servebench <servebench@users.noreply.github.com>"

// deb is a Debian package: deb(5).
func (r *release) deb(b *build) artifact {
	files := r.debFiles(b)
	var sums []byte
	size := 0
	for _, f := range files {
		if !f.folder() {
			sums = fmt.Appendf(sums, "%x  %s\n", md5.Sum(f.data), f.name[len("./"):])
		}
		size += len(f.data)
	}
	control := []file{
		{"./", 0o755, nil},
		{"./control", 0o644, fmt.Appendf(nil, debControl, r.version.debian, b.debian, maintainer, size/1024+1, homepage)},
		{"./md5sums", 0o644, sums},
	}
	data := ar(r.time,
		file{"debian-binary", 0o644, []byte("2.0\n")},
		file{"control.tar.gz", 0o644, gzipped(tarball(control, r.time))},
		file{"data.tar.gz", 0o644, gzipped(tarball(files, r.time))})
	return artifact{fmt.Sprintf("servebench_%s_%s.deb", r.version.debian, b.debian), data}
}

const debControl = `Package: servebench
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Section: net
Priority: optional
Homepage: %s
Description: load generator for LLM serving endpoints
 servebench takes the flags of vllm bench serve, sends the same workload and
 prints the same result block. Then it says whether to believe the numbers,
 whether one server is worse than another, and what servers that share a GPU
 do to each other.
`

// debFiles are the files that the package installs, with their folders.
func (r *release) debFiles(b *build) []file {
	files := []file{
		{"./usr/bin/servebench", 0o755, b.binary},
		{"./usr/share/doc/servebench/copyright", 0o644, fmt.Appendf(nil, debCopyright, r.time.Year())},
		{"./usr/share/lintian/overrides/servebench", 0o644, []byte(debOverrides)},
		{"./usr/share/doc/servebench/changelog.gz", 0o644, gzipped(fmt.Appendf(nil, debChangelog,
			r.version.debian, maintainer, r.time.Format(time.RFC1123Z)))},
	}
	for _, p := range b.papers {
		switch p.name {
		case noticesName, "README.md", "CHANGELOG.md":
			files = append(files, file{"./usr/share/doc/servebench/" + p.name, p.mode, p.data})
		}
	}
	for _, a := range r.aids {
		folder, name := path.Split(a.name)
		if folder == manualFolder {
			files = append(files, file{"./usr/share/man/man1/" + name + ".gz", a.mode, gzipped(a.data)})
		} else {
			files = append(files, file{"./usr/share/" + completions[name].debian, a.mode, a.data})
		}
	}
	return withFolders(files)
}

const debChangelog = `servebench (%s) unstable; urgency=medium

  * /usr/share/doc/servebench/CHANGELOG.md has the changes.

 -- %s  %s
`

const debCopyright = `Copyright (C) %d the authors of servebench.

servebench is licensed under the Apache License 2.0, whose text is in
/usr/share/common-licenses/Apache-2.0. The Go modules in it have their own
licenses, which are in /usr/share/doc/servebench/THIRD_PARTY_NOTICES.
`

// Go links its programs in this way.
const debOverrides = "servebench: statically-linked-binary [usr/bin/servebench]\n"

// withFolders are files, each after its folders.
func withFolders(files []file) []file {
	var all []file
	seen := map[string]bool{}
	var add func(folder string)
	add = func(folder string) {
		if !seen[folder] && folder != "." {
			add(path.Dir(folder))
			all = append(all, file{"./" + folder + "/", 0o755, nil})
			seen[folder] = true
		}
	}
	all = append(all, file{"./", 0o755, nil})
	for _, f := range files {
		add(path.Dir(path.Clean(f.name)))
		all = append(all, f)
	}
	return all
}

// ar is an archive in the common format of ar(5).
func ar(at time.Time, files ...file) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, at.Unix(), 0, 0, 0o100000|f.mode, len(f.data))
		b.Write(f.data)
		if len(f.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
