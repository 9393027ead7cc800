// Package hub finds the files of datasets of the Hugging Face Hub on this machine. It downloads
// nothing.
//
// The programs of Hugging Face keep what they download in a cache: whole repositories as snapshots,
// and the rows that the library datasets has read as Arrow files. Open finds both, and folders and
// files that somebody put elsewhere. A folder has files for each split. Which ones these are follows
// from the card of the dataset, README.md, or from the names of the files, as in the library
// datasets 5.
package hub

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset/cache"
)

// A Place is where the files of a dataset are.
type Place struct {
	// Folder is the repository's snapshot or the folder; empty if only Arrow files are there.
	Folder string

	name  string   // as the user gave it
	files []string // a file that the user named, or Arrow files
	repo  string   // if it is a repository
}

// Open finds a dataset by its path: a file, a folder, or a repository such as openai/gsm8k. An error
// has the command that fetches a repository.
func Open(path string) (*Place, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return &Place{Folder: path, name: path}, nil
	case err == nil:
		return &Place{name: path, files: []string{path}}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !repository.MatchString(path):
		return nil, fmt.Errorf("%s: there is no such file or folder, and it is no repository such as openai/gsm8k", path)
	}
	p := &Place{name: path, repo: path}
	folder := cache.Of(os.LookupEnv).Dataset(path)
	p.Folder, err = cache.Snapshot(folder)
	switch {
	case err == nil || arrowFolder(path) != "":
		return p, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: it is not in the cache of Hugging Face (%s), and nothing is downloaded: fetch it with %s",
			path, folder, p.fetch(""))
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

var repository = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)

// Alone reports whether it is one file, whose rows are in every split.
func (p *Place) Alone() bool { return p.files != nil }

// fetch is the command that fetches a file of the repository, or the whole repository if the file is
// empty.
func (p *Place) fetch(file string) string {
	command := []string{"hf", "download", cmp.Or(p.repo, "REPOSITORY"), file, "--repo-type", "dataset"}
	return strings.Join(slices.DeleteFunc(command, func(s string) bool { return s == "" }), " ")
}

// File is the path of a file of the repository or the folder. If it is not there, the error has the
// command that fetches it.
func (p *Place) File(name string) (string, error) {
	path := filepath.Join(p.Folder, filepath.FromSlash(name))
	if p.Folder == "" {
		return "", fmt.Errorf("%s: it has no file %s: give the folder, or fetch it with %s", p.name, name, p.fetch(name))
	}
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && p.repo != "" {
		return "", fmt.Errorf("%s: %s is not in the cache of Hugging Face (%s), and nothing is downloaded: fetch it with %s",
			p.name, name, p.Folder, p.fetch(name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: it has no file %s: fetch it with %s", p.name, name, p.fetch(name))
	}
	if err != nil {
		return "", err
	}
	return path, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// arrowFolder is where the library datasets keeps the rows of a repository that it has read; empty if
// it keeps none.
func arrowFolder(repo string) string {
	owner, name, _ := strings.Cut(repo, "/")
	if folder := filepath.Join(cache.Of(os.LookupEnv).Datasets, owner+"___"+snake(name)); isFolder(folder) {
		return folder
	}
	return ""
}

var (
	upperUpper = regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`)
	lowerUpper = regexp.MustCompile(`([a-z\d])([A-Z])`)
)

// snake is a name in the spelling of that cache: MMStar is mm_star.
func snake(name string) string {
	name = upperUpper.ReplaceAllString(name, "${1}_${2}")
	return strings.ToLower(lowerUpper.ReplaceAllString(name, "${1}_${2}"))
}
