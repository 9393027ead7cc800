package cache

import (
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Folders are the places of a cache. A relative one is relative to the working directory, as in the
// programs of Hugging Face.
type Folders struct {
	Hub      string // of repositories: models and datasets
	Datasets string // of the Arrow files of the library datasets
}

// Of gives the folders for an environment, such as os.LookupEnv: as huggingface_hub 2.4.0 and
// datasets 5.2.0 take them. A variable that is set and empty counts as set. Only huggingface_hub
// replaces variables within a path.
func Of(lookup func(name string) (value string, set bool)) Folders {
	e := environment(lookup)
	home := e.get("HF_HOME", filepath.Join(e.get("XDG_CACHE_HOME", e.user("~/.cache")), "huggingface"))
	hub := filepath.Join(e.expand(home), "hub")
	return Folders{
		Hub:      e.expand(e.get("HF_HUB_CACHE", e.get("HUGGINGFACE_HUB_CACHE", hub))),
		Datasets: e.user(e.get("HF_DATASETS_CACHE", filepath.Join(e.user(home), "datasets"))),
	}
}

// An environment looks up a variable.
type environment func(name string) (value string, set bool)

// get is the value of a variable, or the default if it is not set.
func (e environment) get(name, otherwise string) string {
	if value, set := e(name); set {
		return value
	}
	return otherwise
}

// expand is Python's os.path.expandvars(os.path.expanduser(path)).
func (e environment) expand(path string) string {
	return variable.ReplaceAllStringFunc(e.user(path), func(text string) string {
		return e.get(strings.TrimSuffix(strings.TrimPrefix(text[1:], "{"), "}"), text)
	})
}

var variable = regexp.MustCompile(`\$(\w+|\{[^}]*\})`)

func separates(r rune) bool { return r == '/' || r == filepath.Separator }

// user is Python's os.path.expanduser: a path with a user's folder in place of ~ or ~NAME at its
// beginning. It stays as it is if the user is not known.
func (e environment) user(path string) string {
	name, tilde := strings.CutPrefix(path, "~")
	if !tilde {
		return path
	}
	rest := ""
	if i := strings.IndexFunc(name, separates); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	home, known := e.home(name)
	switch home = strings.TrimRightFunc(home, separates); {
	case !known:
		return path
	case home+rest == "":
		return "/"
	}
	return home + rest
}

// home is the folder of the user of that name, or without a name of the one who runs the program.
func (e environment) home(name string) (folder string, known bool) {
	if name != "" {
		if other, err := user.Lookup(name); err == nil {
			return other.HomeDir, true
		}
		return "", false
	}
	own := "HOME"
	if runtime.GOOS == "windows" {
		own = "USERPROFILE"
	}
	if folder, known = e(own); known {
		return folder, true
	}
	if me, err := user.Current(); err == nil {
		return me.HomeDir, true
	}
	return "", false
}
