package tokenizer

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Folder is the folder with the files of the tokenizer that Open calls name, and of its model.
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

// cached returns the Snapshot of the model called name, which must have a tokenizer.
func cached(name string) (string, error) {
	folder, err := Snapshot(name)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(folder, tokenizerFile)); err != nil {
		return "", fmt.Errorf("no %s in %s", tokenizerFile, folder)
	}
	return folder, nil
}

// Snapshot returns the folder of the model called name, "org/name" or "name", in Hugging Face's local
// cache. It downloads nothing: without the model, the error says where it looked.
func Snapshot(name string) (string, error) {
	hub, err := hubCache()
	if err != nil {
		return "", err
	}
	model := filepath.Join(hub, "models--"+strings.ReplaceAll(name, "/", "--"))
	ref := filepath.Join(model, "refs", "main")
	commit, err := os.ReadFile(ref)
	if err != nil {
		return "", fmt.Errorf("no %s", ref)
	}
	return filepath.Join(model, "snapshots", strings.TrimSpace(string(commit))), nil
}

// hubCache is where Hugging Face's libraries keep models.
func hubCache() (string, error) {
	if hub := cmp.Or(os.Getenv("HF_HUB_CACHE"), os.Getenv("HUGGINGFACE_HUB_CACHE")); hub != "" {
		return hub, nil
	}
	if home := os.Getenv("HF_HOME"); home != "" {
		return filepath.Join(home, "hub"), nil
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "huggingface", "hub"), nil
}
