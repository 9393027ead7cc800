package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// deb is a Debian package.
func (r *release) deb(b *build) (artifact, error) {
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "servebench", Version: r.version.debian, VersionSchema: "none", Arch: b.arch, MTime: r.time,
		Section: "net", Priority: "optional", Maintainer: maintainer, Homepage: homepage, Description: debDescription,
	})
	folder, err := os.MkdirTemp("", "servebench-deb")
	if err != nil {
		return artifact{}, err
	}
	defer os.RemoveAll(folder)
	for i, f := range r.debFiles(b) {
		source := filepath.Join(folder, fmt.Sprint(i))
		if err := os.WriteFile(source, f.data, 0o600); err != nil {
			return artifact{}, err
		}
		info.Contents = append(info.Contents, &files.Content{
			Source: source, Destination: f.name, FileInfo: &files.ContentFileInfo{Mode: f.mode},
		})
	}
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return artifact{}, err
	}
	var data bytes.Buffer
	err = deb.Default.Package(info, &data)
	return artifact{deb.Default.ConventionalFileName(info), data.Bytes()}, err
}

// maintainer is the maintainer of the Debian package.
const maintainer = "servebench <servebench@users.noreply.github.com>"

const debDescription = `load generator for LLM serving endpoints
servebench takes the flags of vllm bench serve, sends the same workload and
prints the same result block. Then it says whether to believe the numbers,
whether one server is worse than another, and what servers that share a GPU
do to each other.`

// debPlaces are the places of the archive's files in the package. The others are not in it, except
// manual pages.
var debPlaces = map[string]string{
	"README.md":                   "/usr/share/doc/servebench/README.md",
	"CHANGELOG.md":                "/usr/share/doc/servebench/CHANGELOG.md",
	noticesName:                   "/usr/share/doc/servebench/" + noticesName,
	"completions/servebench.bash": "/usr/share/bash-completion/completions/servebench",
	"completions/_servebench":     "/usr/share/zsh/vendor-completions/_servebench",
	"completions/servebench.fish": "/usr/share/fish/vendor_completions.d/servebench.fish",
}

// debFiles are the files that the package installs.
func (r *release) debFiles(b *build) []file {
	changelog := fmt.Appendf(nil, debChangelog, r.version.debian, maintainer, r.time.Format(time.RFC1123Z))
	installed := []file{
		{"/usr/bin/servebench", 0o755, b.binary},
		{"/usr/share/doc/servebench/copyright", 0o644, fmt.Appendf(nil, debCopyright, r.time.Year())},
		{"/usr/share/doc/servebench/changelog.gz", 0o644, gzipped(changelog)},
		{"/usr/share/lintian/overrides/servebench", 0o644, []byte(debOverrides)},
	}
	for _, f := range slices.Concat(b.papers, r.aids) {
		if place, ok := debPlaces[f.name]; ok {
			installed = append(installed, file{place, f.mode, f.data})
		} else if page, ok := strings.CutPrefix(f.name, "man/"); ok {
			installed = append(installed, file{"/usr/share/man/man1/" + page + ".gz", f.mode, gzipped(f.data)})
		}
	}
	return installed
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
