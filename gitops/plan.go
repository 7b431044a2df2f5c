package gitops

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

const (
	// maxFiles bounds the files of one change, maxFile one of them in bytes.
	maxFiles = 50
	maxFile  = 1 << 20
)

// Edit makes a change's files out of those that are there. It may be called
// again when the base has moved.
type Edit func(ctx context.Context, base Files) ([]File, error)

// planned is a change worked out against one commit of the base.
type planned struct {
	repo     Repository
	at       Place
	commit   string
	files    []File // those that differ from the base
	paths    []string
	diff     string
	contents []contents
	hash     string
	rendered *Rendered // nil where nothing is
}

// contents is a file of a plan, as its hash has it.
type contents struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"` // of the new content; "" where it is removed
}

// plan works a change out on the newest base.
func (s *Service) plan(ctx context.Context, at Place, edit Edit) (*planned, error) {
	repo, base, err := s.cfg.Repositories.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	return planOn(ctx, repo, base, at, edit)
}

// planOn works a change out on a commit.
func planOn(ctx context.Context, repo Repository, base Base, at Place, edit Edit) (*planned, error) {
	p := &planned{repo: repo, at: at, commit: base.Commit}
	p.at.Base = base.Branch
	seen := &remembered{Files: repo, texts: map[string]remembers[[]byte]{}, lists: map[string]remembers[[]string]{}}
	files, err := edit(ctx, seen)
	if err != nil {
		return nil, err
	}
	if len(files) > maxFiles {
		return nil, fault.New(fault.Invalid, "a change has %d files, more than %d", len(files), maxFiles).WithFix("Propose it in parts.")
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range files {
		if err := p.add(ctx, seen, f); err != nil {
			return nil, err
		}
	}
	p.hash, err = hashOf(p.bound())
	return p, err
}

// bound is what the plan's hash covers: where the change goes and what becomes
// of which file, whatever else the base holds by then.
func (p *planned) bound() map[string]any {
	return map[string]any{"repository": p.at.Repository, "base": p.at.Base, "files": p.contents}
}

// add compares one file with the base.
func (p *planned) add(ctx context.Context, base Files, f File) error {
	if len(f.Data) > maxFile {
		return fault.New(fault.Invalid, "%s has %d bytes, more than %d", clip(f.Path, 200), len(f.Data), maxFile).WithFix("Write less.")
	}
	old, err := base.Read(ctx, f.Path)
	missing := errors.Is(err, ErrNoFile)
	switch {
	case err != nil && !missing:
		return err
	case f.Delete:
		p.contents = append(p.contents, contents{Path: f.Path})
	default:
		sum := sha256.Sum256(f.Data)
		p.contents = append(p.contents, contents{f.Path, hex.EncodeToString(sum[:])})
	}
	if f.Delete && missing || !f.Delete && !missing && bytes.Equal(old, f.Data) {
		return nil
	}
	p.files, p.paths = append(p.files, f), append(p.paths, f.Path)
	if d := diffOf(f, old, missing); len(p.diff)+len(d) <= maxKeptDiff {
		p.diff += d
	}
	return nil
}

// diffOf is the unified diff of a file; of what is no text it says that alone.
func diffOf(f File, old []byte, missing bool) string {
	from, to := "a/"+f.Path, "b/"+f.Path
	if missing {
		from = "/dev/null"
	}
	if f.Delete {
		to = "/dev/null"
	}
	if !utf8.Valid(old) || !utf8.Valid(f.Data) || bytes.IndexByte(old, 0) >= 0 || bytes.IndexByte(f.Data, 0) >= 0 {
		return "Binary files " + from + " and " + to + " differ\n"
	}
	return udiff.Unified(from, to, string(old), string(f.Data))
}

// hashOf is the hash of a value as JSON.
func hashOf(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
