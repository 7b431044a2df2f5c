package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed guide.tmpl
var guideText string

//go:embed merge.tmpl
var mergeText string

// tell writes demo.json, and the program that merges, and says how to walk the
// loop.
func (w *world) tell() error {
	merge, err := w.fill(mergeText)
	if err != nil {
		return err
	}
	guide, err := w.guide()
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(w.path("merge"), []byte(merge), 0o600), os.Chmod(w.path("merge"), 0o700)); err != nil { //nolint:gosec // a program, for this user alone
		return err
	}
	if err := w.record(); err != nil {
		return err
	}
	w.say("ready")
	_, err = fmt.Fprint(w.out, guide)
	return err
}

// guide is what one is told.
func (w *world) guide() (string, error) { return w.fill(guideText) }

// fill fills a template in.
func (w *world) fill(text string) (string, error) {
	database, err := w.database(organization)
	if err != nil {
		return "", err
	}
	t, err := template.New("text").Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, map[string]any{"Dir": w.dir, "URL": w.url(), "CLI": near(filepath.Join(w.programs, "fairlead")), "Program": filepath.Join(w.programs, "fairlead"),
		"Gitea": w.gitea.URL, "Org": organization, "Tokens": w.set.Tokens, "Host": database.Hostname(), "Port": database.Port(), "Psql": psql(), "PID": os.Getpid(), "UI": w.ui})
	return b.String(), err
}

// near is how to call a program from this folder.
func near(program string) string {
	wd, err := os.Getwd()
	if err != nil {
		return program
	}
	if rel, err := filepath.Rel(wd, program); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return program
}

// psql is PostgreSQL's client.
func psql() string {
	if path, err := exec.LookPath("psql"); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/psql") // a fixed pattern
	return append(found, "psql")[0]
}
