package preflight

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset/cache"
)

// models checks that the models of vllm serve and of the needs are on this machine, and that
// those whose licence has to be accepted can be fetched.
func models(l *look) (all []Finding) {
	var there, absent []string
	for _, name := range l.models() {
		if strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") {
			if _, err := l.Stat(name); err != nil {
				all = append(all, missing("model", "check the path", "%s: no such folder", name))
			}
			continue
		}
		if l.cachedElsewhere(name) {
			all = append(all, note("model", "whether %s is in the cache that its server's env names is not checked", name))
			continue
		}
		weights, err := l.Model(name)
		switch {
		case err != nil:
			absent = append(absent, name)
			all = append(all, missing("model", l.download(name), "%s is not in the cache of Hugging Face (%v)", name, err))
		case weights == 0 && !l.dummy(name):
			all = append(all, note("model", "%s is there without files of safetensors", name))
		default:
			there = append(there, name)
		}
	}
	if there != nil {
		all = append(all, fine("model", "%s", strings.Join(there, ", ")))
	}
	for _, n := range l.needs() {
		for _, name := range n.Gated {
			if slices.Contains(absent, name) && !l.token() {
				all = append(all, missing("model", "accept its licence at https://huggingface.co/"+name+", and set HF_TOKEN to a token of yours",
					"there is no HF_TOKEN, which %s needs", name))
			}
		}
	}
	return all
}

// models are the names of all models.
func (l *look) models() []string {
	var names []string
	for _, s := range l.servers {
		names = append(names, s.model)
	}
	for _, n := range l.needs() {
		names = append(append(names, n.Models...), n.Gated...)
	}
	return unique(names)
}

// cachedElsewhere reports whether a server of the model has another cache of Hugging Face than we.
func (l *look) cachedElsewhere(name string) bool {
	own := cache.Of(l.LookupEnv).Hub
	return slices.ContainsFunc(l.servers, func(s *server) bool {
		return s.model == name && own != cache.Of(func(variable string) (string, bool) {
			if value, set := s.Env[variable]; set {
				return value, true
			}
			return l.LookupEnv(variable)
		}).Hub
	})
}

// token reports whether there is a token for Hugging Face: in HF_TOKEN, or where hf auth login puts it.
func (l *look) token() bool {
	_, err := l.Stat(cache.Of(l.LookupEnv).Token)
	return err == nil || l.getenv("HF_TOKEN") != "" ||
		slices.ContainsFunc(l.servers, func(s *server) bool { return s.Env["HF_TOKEN"] != "" })
}

// dummy reports whether all servers of a model make up its weights.
func (l *look) dummy(name string) bool {
	of := func(s *server) bool { return s.model == name }
	return slices.ContainsFunc(l.servers, of) &&
		!slices.ContainsFunc(l.servers, func(s *server) bool { return of(s) && s.flags["load-format"] != "dummy" })
}

// download is the command that fetches a model, without weights that nobody loads.
func (l *look) download(name string) string {
	if l.dummy(name) {
		return "hf download " + name + ` --exclude "*.safetensors"`
	}
	return "hf download " + name
}

// files checks what needs names.
func files(l *look) (all []Finding) {
	var there []string
	for _, n := range l.needs() {
		for _, name := range n.Files {
			if _, err := l.Stat(name); err != nil {
				all = append(all, missing("file", "put it into the folder of the experiment's file", "%s: no such file%s", name, n.who))
			} else {
				there = append(there, name)
			}
		}
	}
	if there != nil {
		all = append(all, fine("file", "%s", strings.Join(unique(there), ", ")))
	}
	return all
}

// variables checks the environment.
func variables(l *look) (all []Finding) {
	for _, n := range l.needs() {
		for _, name := range n.Env {
			if l.getenv(name) == "" {
				all = append(all, missing("variable", "export "+name+"=...", "%s is not set%s", name, n.who))
			}
		}
	}
	return all
}

// shareGPT is the usual file of the dataset sharegpt, and shareGPTRepository where it is at Hugging Face.
const (
	shareGPT           = "ShareGPT_V3_unfiltered_cleaned_split.json"
	shareGPTRepository = "anon8231489123/ShareGPT_Vicuna_unfiltered"
)

// datasets checks that the files of the loads are there.
func datasets(l *look) (all []Finding) {
	var there, seen []string
	for i := range l.Arms {
		for _, load := range l.LoadsOf(i) {
			path := load.Workload.Path
			if path == "" || slices.Contains(seen, path) {
				continue
			}
			seen = append(seen, path)
			_, err := l.Stat(path)
			if err == nil {
				there = append(there, path)
				continue
			}
			if load.Workload.Dataset == "hf" {
				if err = l.Dataset(path); err == nil {
					there = append(there, path)
					continue
				}
				all = append(all, missing("dataset", "", "%v", err)) // which has the command
				continue
			}
			remedy := "put it there; paths are relative to the folder of the experiment's file"
			if filepath.Base(path) == shareGPT {
				remedy = "hf download " + shareGPTRepository + " " + shareGPT + " --repo-type dataset --local-dir " + filepath.Dir(path)
			}
			all = append(all, missing("dataset", remedy, "%s: no such file", path))
		}
	}
	if there != nil {
		all = append(all, fine("dataset", "%s", strings.Join(there, ", ")))
	}
	return all
}
