package tokenizer

import (
	"os"
	"path/filepath"
)

// Folder is where the files of the tokenizer that Open calls name lie, and those of
// its model beside them.
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
