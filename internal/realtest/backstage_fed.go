package realtest

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

//go:embed testdata/fed/index.js
var fedProgram []byte

// Packages gives the folder of the plug-ins for Backstage, packed as they are
// published, as ui.sh makes it of this checkout's files: at most once for each
// state of them.
func Packages(t testing.TB, script string) string {
	t.Helper()
	_, err := backstageDir()
	need(t, "Backstage", err)
	return UI(t, script, "packages")
}

// program makes a program of Backstage with our module in a folder below
// Backstage's own, so that the module finds Backstage's packages as it does
// where it is installed, and what others it needs beside itself.
func (b *BackstageServer) program(from string, cfg BackstageConfig) (dir string, err error) {
	if cfg.Packages == "" {
		return from, nil
	}
	if b.fed, err = os.MkdirTemp(from, "fed-"); err != nil {
		return "", err
	}
	if err := os.CopyFS(filepath.Join(b.fed, "node_modules"), os.DirFS(filepath.Join(cfg.Packages, "node_modules"))); err != nil {
		return "", fmt.Errorf("copying the packages: %w", err)
	}
	return b.fed, os.WriteFile(filepath.Join(b.fed, "index.js"), fedProgram, 0o600)
}

// remove removes the server's files.
func (b *BackstageServer) remove() error {
	err := os.RemoveAll(b.dir)
	if b.fed != "" {
		err = errors.Join(err, os.RemoveAll(b.fed))
	}
	return err
}

// Log is what the server has logged so far.
func (b *BackstageServer) Log() string {
	text, _ := os.ReadFile(filepath.Join(b.dir, "log")) // "" where nothing is
	return string(text)
}
