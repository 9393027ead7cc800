package tokenizer

import (
	"os"
	"path/filepath"

	"github.com/servebench/servebench/dataset/cache"
)

// Folder is the folder of the files that Open reads for name, and of its model. The error is
// fs.ErrNotExist if there is neither a file nor a folder of that name, and no such model in Hugging
// Face's cache, as for a Stub.
func Folder(name string) (string, error) {
	stat, err := os.Stat(name)
	switch {
	case os.IsNotExist(err):
		return cached(name)
	case err != nil:
		return "", err
	case stat.IsDir():
		return name, nil
	}
	return filepath.Dir(name), nil
}

// cached is the folder of the model called name in Hugging Face's cache.
func cached(name string) (string, error) {
	return cache.Snapshot(cache.Of(os.LookupEnv).Model(name))
}
