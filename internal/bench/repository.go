package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// repository is a company's catalog as one local Git repository.
type repository struct {
	*company
	dir string
	// label tells the edits of one run from those of another.
	label string
	edits int
}

// newRepository makes the repository at dir with the git command.
func newRepository(ctx context.Context, dir string, components int) (*repository, error) {
	r := &repository{company: newCompany(components), dir: dir}
	for path, text := range r.files {
		if err := r.write(path, text); err != nil {
			return nil, err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "Describe everything"}} {
		if err := r.git(ctx, args...); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *repository) write(path, text string) error {
	file := filepath.Join(r.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func (r *repository) git(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", r.dir, "-c", "gc.auto=0", "-c", "user.name=Bench", "-c", "user.email=bench@corp.test"}, args...)...) //nolint:gosec // arguments are our own
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}

// edit changes the description of one component and commits that; it gives
// the component's reference and its new description.
func (r *repository) edit(ctx context.Context) (ref, description string, err error) {
	r.edits++
	i := r.edits * 7919 % len(r.components)
	path := r.file(i)
	description = fmt.Sprintf("Edit %d of %s.", r.edits, r.label)
	before, after, _ := strings.Cut(r.files[path], "  description: ")
	_, after, _ = strings.Cut(after, "\n")
	r.files[path] = before + fmt.Sprintf("  description: %q\n", description) + after
	if err := r.write(path, r.files[path]); err != nil {
		return "", "", err
	}
	return r.components[i].ref(), description, r.git(ctx, "commit", "-q", "-m", "Change one description", "--", path)
}
