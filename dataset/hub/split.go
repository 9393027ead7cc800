package hub

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/servebench/servebench/dataset/table"
)

// A Subset is a configuration of a dataset. An empty name is the default one.
type Subset struct {
	Name     string
	Optional bool // without a card or a folder of that name, all files belong to it
}

// Split is the files with the rows of a split, in their order. A file that the user named has all its
// rows in every split.
func (p *Place) Split(subset Subset, split string) ([]string, error) {
	if p.files != nil {
		return p.files, nil
	}
	if p.Folder == "" {
		return p.arrow(subset.Name, split)
	}
	files, err := dataFiles(p.Folder)
	if err != nil {
		return nil, err
	}
	splits, err := p.splits(files, subset)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	chosen := commonest(splits[split])
	if len(chosen) == 0 {
		return nil, p.missing(split, splits)
	}
	for i, file := range chosen {
		chosen[i] = filepath.Join(p.Folder, filepath.FromSlash(file))
	}
	return chosen, nil
}

// missing says that a split has no files.
func (p *Place) missing(split string, splits map[string][]string) error {
	maps.DeleteFunc(splits, func(_ string, files []string) bool { return len(commonest(files)) == 0 })
	advice := ""
	if p.repo != "" {
		advice = ": if they are not all there, fetch them with " + p.fetch("")
	}
	if len(splits) == 0 {
		return fmt.Errorf("%s: there is no Parquet, Arrow, JSON or CSV file in %s%s", p.name, p.Folder, advice)
	}
	names := slices.Sorted(maps.Keys(splits))
	return fmt.Errorf("%s: Bad split: %s. Available splits: ['%s'] in %s%s", p.name, split, strings.Join(names, "', '"),
		p.Folder, advice)
}

// ignored are files of a folder that have no rows.
var ignored = []string{"README.md", "config.json", "dataset_info.json", "dataset_infos.json", "dummy_data.zip",
	"dataset_dict.json"}

// dataFiles is the files below a folder, by their paths with slashes, sorted. Hidden files are left
// out.
func dataFiles(folder string) (files []string, err error) {
	err = fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case name == ".":
		case strings.HasPrefix(base, ".") || entry.IsDir() && strings.HasPrefix(base, "__"):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir() && !slices.Contains(ignored, base):
			files = append(files, name)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// splits is the files of each split.
func (p *Place) splits(files []string, subset Subset) (map[string][]string, error) {
	card, err := readCard(p.Folder)
	if err != nil {
		return nil, err
	}
	if len(card) > 0 {
		config, err := card.config(subset.Name)
		if err != nil {
			return nil, err
		}
		files = below(files, config.Folder)
		if config.Files.patterns == nil {
			return named(files), nil
		}
		splits := map[string][]string{}
		for split, patterns := range config.Files.patterns {
			for _, pattern := range patterns {
				splits[split] = append(splits[split], matching(files, path.Join(config.Folder, pattern))...)
			}
		}
		return splits, nil
	}
	if subset.Name == "" {
		return named(files), nil
	}
	if inside := below(files, subset.Name); len(inside) > 0 {
		return named(inside), nil
	}
	if !subset.Optional {
		return nil, fmt.Errorf("it has no subset %s: neither README.md nor a folder has that name", subset.Name)
	}
	return named(files), nil
}

// below is the files in a folder; all for an empty folder.
func below(files []string, folder string) (inside []string) {
	if folder = strings.Trim(path.Clean("/"+folder), "/"); folder == "" {
		return files
	}
	for _, file := range files {
		if strings.HasPrefix(file, folder+"/") {
			inside = append(inside, file)
		}
	}
	return inside
}

// sharded is the name of a file that says which split it is part of.
var sharded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^data/(\w+(?:\.\w+)*)-\d{5}-of-\d{5}[^/]*\.[^/]*$`)
})

// keywords say by the name of a file or folder which split it is.
var keywords = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"train":      keyword("train|training"),
		"validation": keyword("validation|valid|dev|val"),
		"test":       keyword("test|testing|eval|evaluation"),
	}
})

// keyword matches a name in which one of the words stands alone.
func keyword(words string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:.*[-._ 0-9])?(?:` + words + `)(?:[-._ 0-9].*)?$`)
}

// named is the files of each split, by their names or the names of their folders. Files whose names
// say nothing are the split train.
func named(files []string) map[string][]string {
	splits := map[string][]string{}
	for _, file := range files {
		if parts := sharded().FindStringSubmatch(file); parts != nil {
			splits[parts[1]] = append(splits[parts[1]], file)
		}
	}
	if len(splits) > 0 {
		return splits
	}
	inFolder := func(word *regexp.Regexp, file string) bool {
		return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), word.MatchString)
	}
	inName := func(word *regexp.Regexp, file string) bool { return word.MatchString(path.Base(file)) }
	for _, says := range []func(*regexp.Regexp, string) bool{inFolder, inName} {
		for split, word := range keywords() {
			for _, file := range files {
				if says(word, file) {
					splits[split] = append(splits[split], file)
				}
			}
		}
		if len(splits) > 0 {
			return splits
		}
	}
	return map[string][]string{"train": files}
}

// commonest is the files of the form that most of the files have, among the forms that can be read.
func commonest(files []string) (chosen []string) {
	forms := map[string][]string{}
	for _, file := range files {
		form := table.Format(file)
		switch form {
		case "":
			continue
		case ".jsonl", ".ndjson":
			form = ".json"
		}
		if forms[form] = append(forms[form], file); len(forms[form]) > len(chosen) {
			chosen = forms[form]
		}
	}
	return chosen
}

// arrow is the Arrow files that the library datasets keeps for a split.
func (p *Place) arrow(subset, split string) ([]string, error) {
	_, name, _ := strings.Cut(p.repo, "/")
	folder := filepath.Join(arrowFolder(p.repo), cmp.Or(subset, "*"), "*", "*")
	for _, end := range []string{".arrow", "-[0-9]*-of-[0-9]*.arrow"} {
		files, err := filepath.Glob(filepath.Join(folder, snake(name)+"-"+split+end))
		if err != nil {
			return nil, err
		}
		if versions := folders(files); len(versions) > 1 {
			return nil, fmt.Errorf("%s: the cache of Hugging Face has several versions of it: name one as --dataset-path: %s",
				p.name, strings.Join(versions, ", "))
		}
		if len(files) > 0 {
			return files, nil
		}
	}
	return nil, fmt.Errorf("%s: there is no split %s in %s: fetch the repository with %s", p.name, split,
		arrowFolder(p.repo), p.fetch(""))
}

// folders is the folders of files, each once.
func folders(files []string) []string {
	list := make([]string, len(files))
	for i, file := range files {
		list[i] = filepath.Dir(file)
	}
	return slices.Compact(list)
}
