package preflight

import (
	"path/filepath"
	"slices"
	"strings"
)

// windows are the releases of vLLM that releases of kvcached patch: by their README and by what they
// say when they refuse one.
var windows = []struct {
	kvcached, vllm string
	plainRunner    string // releases of vLLM that also need VLLM_USE_V2_MODEL_RUNNER=0
}{
	{"kvcached>=0.1.6,<0.1.7", "vllm>=0.17,<0.31", "vllm>=0.22,<0.28"},
	{"kvcached>=0.1.5,<0.1.6", "vllm>=0.8.4,<0.25", "vllm<0"},
}

const runnerVariable = "VLLM_USE_V2_MODEL_RUNNER"

// kvcached checks that kvcached is there for the arms that have it on, and patches their vLLM.
func kvcached(l *look) (all []Finding) {
	for _, e := range l.engines {
		of := func(s *server) bool { return s.elastic() && l.engineOf(s) == e }
		arms := l.armsOf(of)
		if arms == "" {
			continue
		}
		version := e.Versions["kvcached"]
		switch {
		case e.wrong == "" && version != "":
			all = append(all, e.patched(l, version)...)
			all = append(all, e.runner(version, l.armsOf(func(s *server) bool { return of(s) && s.getenv(runnerVariable) != "0" }))...)
		case e.python == "" && e.path != "":
			all = append(all, note("kvcached", "%s is no script of Python, so whether it has kvcached is not known (%s)", e.path, arms))
		case !l.declared("kvcached"):
			r, _ := require("kvcached")
			all = append(all, missing("kvcached", r.install(), "kvcached is not there for %s (%s)", e.program, arms))
		}
	}
	return all
}

// declared reports whether needs have a package of the engine, so that another check names it.
func (l *look) declared(name string) bool {
	return slices.ContainsFunc(l.needs(), func(n need) bool {
		return slices.ContainsFunc(n.Engine, func(text string) bool {
			r, _ := require(text)
			return r.name == name
		})
	})
}

// patched checks that this kvcached starts with Python and knows this vLLM.
func (e *engine) patched(l *look, version string) (all []Finding) {
	reinstall := "pip install --force-reinstall --no-deps --no-build-isolation kvcached==" + version
	if !e.Hook {
		all = append(all, missing("kvcached", reinstall, "kvcached_autopatch.pth is not in site-packages of %s, so vLLM would run without kvcached", e.python))
	}
	if _, err := l.Run(l.ctx, Command{Words: []string{e.python, "-c", "import kvcached.vmm_ops"}}); err != nil {
		all = append(all, missing("kvcached", reinstall+", where CUDA's libraries are", "kvcached %s cannot be imported (%v)", version, err))
	}
	vllm, found := e.Versions["vllm"], false
	for _, w := range windows {
		own, _ := require(w.kvcached)
		needed, _ := require(w.vllm)
		if !own.holds(version) {
			continue
		}
		if found = true; numbered(vllm) && !needed.holds(vllm) {
			all = append(all, missing("kvcached", needed.install(), "kvcached %s patches %s, and this is %s", version, w.vllm, vllm))
		}
	}
	if found && !numbered(vllm) {
		all = append(all, note("kvcached", "whether kvcached %s patches this vLLM is not known: its version is %q", version, vllm))
	}
	if !found {
		all = append(all, note("kvcached", "which vLLM kvcached %s patches is not known here: read its release notes", version))
	}
	if all == nil {
		all = append(all, fine("kvcached", "%s patches vLLM %s", version, vllm))
	}
	return all
}

// runner checks the variable that some releases need; arms are the arms without it.
func (e *engine) runner(version, arms string) []Finding {
	for _, w := range windows {
		own, _ := require(w.kvcached)
		needed, _ := require(w.plainRunner)
		if own.holds(version) && needed.holds(e.Versions["vllm"]) && arms != "" {
			return []Finding{missing("kvcached", "put "+runnerVariable+`: "0" into the env of the servers`,
				"kvcached %s patches vLLM %s only without Model Runner V2 (%s)", version, e.Versions["vllm"], arms)}
		}
	}
	return nil
}

// segmentSize is what kvcached keeps for each server in shared memory: its limit, the bytes in use and
// the bytes in reserve, of 8 bytes each.
const segmentSize = 24

// segments looks for shared memory that servers left behind.
func segments(l *look) (all []Finding) {
	var names []string
	for _, s := range l.servers {
		if name := s.getenv("KVCACHED_IPC_NAME"); name != "" && !strings.ContainsAny(name, `/*?[\`) {
			names = append(names, name)
		}
	}
	names = unique(names)
	stale := 0
	for _, name := range names {
		found, _ := l.Glob(filepath.Join("/dev/shm", name+"_g*")) // of hybrid models
		for _, path := range append([]string{filepath.Join("/dev/shm", name)}, found...) {
			if info, err := l.Stat(path); err == nil && info.Size() == segmentSize {
				stale++
				all = append(all, missing("kvcached", "stop its server, or rm "+path, "%s is there, of a server that runs or was killed", path))
			}
		}
	}
	if len(names) > 0 && stale == 0 {
		all = append(all, fine("kvcached", "no shared memory is left over"))
	}
	return all
}
