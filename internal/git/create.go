package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Commit is who changes a repository, and why.
type Commit struct {
	Message, Author, Email string
	When                   time.Time
}

// Create makes a repository with a work tree at dir whose branch main holds
// one commit with the given files, by slash-separated path; names that end in
// .sh are made executable. A repository that is there already is left alone.
func Create(dir string, files map[string]string, c Commit) error {
	repo, err := gogit.PlainInitWithOptions(dir, &gogit.PlainInitOptions{InitOptions: gogit.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName("main")}})
	if errors.Is(err, gogit.ErrRepositoryAlreadyExists) {
		return nil
	}
	if err != nil {
		return err
	}
	tree, err := repo.Worktree()
	if err != nil {
		return err
	}
	for path, text := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(path)), text); err != nil {
			return err
		}
		// Without the status of everything before, which is nothing.
		if err := tree.AddWithOptions(&gogit.AddOptions{Path: path, SkipStatus: true}); err != nil {
			return err
		}
	}
	_, err = tree.Commit(c.Message, &gogit.CommitOptions{Author: &object.Signature{Name: c.Author, Email: c.Email, When: c.When}})
	return err
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if strings.HasSuffix(path, ".sh") {
		mode = 0o755
	}
	return os.WriteFile(path, []byte(text), mode)
}
