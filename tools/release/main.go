// Command release makes the files of a release of servebench in a folder: for each platform an
// archive, a wheel, a Debian package, an image and a bill of materials, as far as they exist for
// it, and checksums.
//
// It needs Go and the modules of go.mod: no network, no git, no docker, no dpkg, no Python. The
// same commit and the same version of Go make the same bytes on each machine, since the only time
// in them is the commit's.
//
//	go -C tools/release build -o ../../bin/release .
//	bin/release -version v0.2.0 -commit HASH -time 1790000000
//
// make release builds the command, and passes what git knows about the commit. Run it in the repository's root.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes the release that the flags ask for.
func run(args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "what git describe --tags --always --dirty prints")
	commit := flags.String("commit", "", "the commit's full hash")
	seconds := flags.Int64("time", 0, "when the commit was made, in seconds since 1970")
	out := flags.String("out", "dist", "the folder for the files; what is in it goes")
	only := flags.String("only", "", "make the files of these platforms alone, such as linux/amd64,windows/amd64")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *version == "" || *commit == "" || *seconds == 0 {
		return errors.New("-version, -commit and -time are needed: make release takes them from git")
	}
	v, err := parseVersion(*version)
	if err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	r := &release{version: v, commit: *commit, time: time.Unix(*seconds, 0).UTC()}
	if r.aids, err = r.findAids(); err != nil {
		return err
	}
	return r.write(*out, chosen)
}

// choose are the platforms of a list with commas, or all of them.
func choose(list string) ([]platform, error) {
	if list == "" {
		return platforms, nil
	}
	var chosen []platform
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-only: %s: it must be among %v", name, platforms)
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

// A release is what its files have in common.
type release struct {
	version version
	commit  string
	time    time.Time // of the commit, and of each file in an archive
	aids    []file    // manual pages and completions
}

// An artifact is one file of a release.
type artifact struct {
	name string
	data []byte
}

// write makes the files of platforms, and SHA256SUMS, in a folder. It empties the folder first.
func (r *release) write(folder string, platforms []platform) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	var sums strings.Builder
	for _, p := range platforms {
		artifacts, err := r.artifacts(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		for _, a := range artifacts {
			if err := os.WriteFile(filepath.Join(folder, a.name), a.data, 0o666); err != nil {
				return err
			}
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(a.data), a.name)
			fmt.Printf("%s  %.1f MB\n", filepath.Join(folder, a.name), float64(len(a.data))/1e6)
		}
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums.String()), 0o666)
}

// artifacts are the files of one platform.
func (r *release) artifacts(p platform) ([]artifact, error) {
	b, err := r.build(p)
	if err != nil {
		return nil, err
	}
	made := []artifact{r.archive(b), r.wheel(b), r.bill(b)}
	if p.os != "linux" {
		return made, nil
	}
	deb, err := r.deb(b)
	if err != nil {
		return nil, err
	}
	image, err := r.image(b)
	return append(made, deb, image), err
}
