package published

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FileName is the file in the folder of a sweep that has its blocks.
const FileName = "against.json"

// Write writes blocks as JSON, as ReadFolder reads them.
func Write(w io.Writer, blocks []*Block) error {
	text, err := json.MarshalIndent(blocks, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// ReadFolder reads the blocks of a sweep's folder; none if it has no such file.
func ReadFolder(folder string) (blocks []*Block, err error) {
	name := filepath.Join(folder, FileName)
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(text, &blocks); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return blocks, nil
}
