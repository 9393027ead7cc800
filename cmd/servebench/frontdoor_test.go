package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// frontPages are the pages for people, by their path from the repository's root.
func frontPages(t *testing.T) map[string]string {
	t.Helper()
	pages := make(map[string]string)
	for _, name := range slices.Concat(rootPages, docsPages(t, "../.."), []string{"dataset/jinja/README.md"}) {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	return pages
}

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notASlug = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchors are the anchors of the headings of a page, as GitHub makes them.
func anchors(page string) []string {
	var all []string
	for _, found := range heading.FindAllStringSubmatch(page, -1) {
		slug := notASlug.ReplaceAllString(strings.ToLower(found[1]), "")
		all = append(all, strings.ReplaceAll(slug, " ", "-"))
	}
	return all
}

func TestLinksLeadSomewhere(t *testing.T) {
	pages := frontPages(t)
	for name, text := range pages {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			path, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			target := name
			if path != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), path))
			}
			if _, err := os.Stat(filepath.Join("../..", target)); err != nil {
				t.Errorf("%s links to %s: %v", name, found[1], err)
			}
			if anchor != "" && !slices.Contains(anchors(pages[target]), anchor) {
				t.Errorf("%s links to %s: %s has no such heading", name, found[1], target)
			}
		}
	}
}

// The README is what a newcomer reads before anything else, so it stays short, and the
// index of the docs names every page.
func TestREADMEIsShortAndTheIndexIsWhole(t *testing.T) {
	pages := frontPages(t)
	if words := len(strings.Fields(pages["README.md"])); words > 650 {
		t.Errorf("README.md has %d words, may have 650", words)
	}
	for name := range pages {
		file, ok := strings.CutPrefix(name, "docs/")
		if ok && file != "README.md" && strings.Count(pages["docs/README.md"], "("+file+")") != 1 {
			t.Errorf("docs/README.md does not name %s once", file)
		}
	}
}

var quotedPath = regexp.MustCompile("`((?:cmd|loadgen|metrics|report|dataset|docs|testdata|tools)(?:/[a-z0-9_.]+)*)`")

// The page of the architecture names every package, and no page names a file or a
// folder that is not there.
func TestPagesNameWhatIsThere(t *testing.T) {
	pages := frontPages(t)
	for _, name := range []string{"docs/architecture.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		for _, found := range quotedPath.FindAllStringSubmatch(pages[name], -1) {
			if _, err := os.Stat(filepath.Join("../..", found[1])); err != nil {
				t.Errorf("%s names %s: %v", name, found[1], err)
			}
		}
	}
	for _, top := range []string{"cmd", "loadgen", "metrics", "report", "dataset"} {
		err := filepath.WalkDir(filepath.Join("../..", top), func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			sources, err := filepath.Glob(filepath.Join(path, "*.go"))
			name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
			if len(sources) > 0 && !strings.Contains(pages["docs/architecture.md"], "`"+name+"`") {
				t.Errorf("docs/architecture.md does not name %s", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// makefiles are the texts of the Makefile and of what it includes.
func makefiles(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	names := []string{"Makefile"}
	for i := 0; i < len(names); i++ {
		text, err := os.ReadFile(filepath.Join("../..", names[i]))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
		for _, included := range regexp.MustCompile(`(?m)^include (.*)$`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, strings.Fields(included[1])...)
		}
	}
	return all.String()
}

// steps are targets that only others need.
var steps = []string{"models", "vllm-client", "vllm-engine", "peers-aiperf", "peers-multi-turn"}

func TestMakeHelpNamesEveryTarget(t *testing.T) {
	text := makefiles(t)
	for _, phony := range regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindAllStringSubmatch(text, -1) {
		for _, target := range strings.Fields(phony[1]) {
			helped, err := regexp.MatchString(`(?m)^`+regexp.QuoteMeta(target)+`:.* ## .`, text)
			if err != nil || helped == slices.Contains(steps, target) {
				t.Errorf("target %s: has help: %t (%v)", target, helped, err)
			}
		}
	}
	if first := regexp.MustCompile(`(?m)^([a-z]+):`).FindStringSubmatch(text); first == nil || first[1] != "build" {
		t.Errorf("make alone makes %v, want build", first)
	}
}

func TestDocumentedTargetsExist(t *testing.T) {
	text := makefiles(t)
	for name, page := range frontPages(t) {
		for _, found := range regexp.MustCompile("(?m)(?:^|`)make ([a-z][a-z0-9-]*)").FindAllStringSubmatch(page, -1) {
			if !strings.Contains(text, "\n"+found[1]+":") {
				t.Errorf("%s says make %s, which is no target", name, found[1])
			}
		}
	}
}

// The workflows run what our own CI runs, with the Go that go.mod asks for.
func TestWorkflowsRunOurCI(t *testing.T) {
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(module))
	for name, script := range map[string]string{"ci.yml": ".ci/run", "nightly.yml": ".ci/nightly"} {
		workflow, err := os.ReadFile("../../.github/workflows/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"- run: " + script + "\n", "container: golang:" + goVersion[1] + "\n"} {
			if !strings.Contains(string(workflow), want) {
				t.Errorf("%s does not have %q", name, want)
			}
		}
	}
}

// Each part of the scripts is a target, and no target that proves something is in neither, but for those that take
// hours, hardware or an hour's downloads.
func TestEachTargetThatProvesIsInCI(t *testing.T) {
	text := makefiles(t)
	var all strings.Builder
	for _, name := range []string{"run", "nightly"} {
		script, err := os.ReadFile("../../.ci/" + name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(script)
	}
	_, list, _ := strings.Cut(all.String(), "\nparts=(")
	list, _, _ = strings.Cut(list, ")")
	parts := strings.Fields(list)[1:] // packages is no target
	for _, made := range regexp.MustCompile(`make ([a-z][a-z0-9-]*)`).FindAllStringSubmatch(all.String(), -1) {
		parts = append(parts, made[1])
	}
	for _, part := range parts {
		if !strings.Contains(text, "\n"+part+":") {
			t.Errorf("CI runs %s, which is no target", part)
		}
	}
	for _, proof := range []string{
		"lint", "test", "race", "house", "demo", "embed", "full", "outside", "tools-test", "e2e", "release-check", "shells", "browser", "manifests",
		"exports", "slurm", "live", "faults-check", "vllm-oracle", "vllm-e2e", "oracle",
	} {
		if !slices.Contains(parts, proof) {
			t.Errorf("neither .ci/run nor .ci/nightly runs make %s", proof)
		}
	}
}
