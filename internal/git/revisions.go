package git

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

const (
	// recentCommits is how many commits of the default branch are told.
	recentCommits = 30
	// describedLocal and describedRemote are how many refs are told of more than
	// their names: those of a repository on disk are read in place, others
	// fetched.
	describedLocal, describedRemote = 5_000, 100
	// maxRevisionBytes bounds what is fetched of them, in bytes.
	maxRevisionBytes = 4 << 20
	// maxTitle bounds a commit's title, in bytes.
	maxTitle = 200
)

// Revision is a branch, a tag or a commit of a repository.
type Revision struct {
	// Name is the short name of a branch or a tag, and a commit's full id.
	Name string
	// Commit is the full id of the commit; "" where a tag does not tell it
	// without being read.
	Commit string
	// Title is the first line of the commit's message, Author the name of who
	// wrote it, At when it was committed; all zero where the commit was not read.
	Title, Author string
	At            time.Time
}

// Revisions are what may be named of a repository.
type Revisions struct {
	// Default is the branch that is read where none is named; "" for none.
	Default string
	// Branches and Tags are all there are, by name, the default branch first.
	Branches, Tags []Revision
	// Commits are the last ones of the default branch, newest first; Older tells
	// that there are more.
	Commits []Revision
	Older   bool
}

// Revisions lists branches, tags and the last commits of the default branch. Of
// a repository elsewhere some commits are fetched for it, without their files,
// where the server can leave those out, and not kept. A repository without
// commits has none.
func (s *Source) Revisions(ctx context.Context) (*Revisions, error) {
	var found *Revisions
	var err error
	switch r := s.reader.(type) {
	case *local:
		found, err = r.revisions(ctx)
	case *remote:
		found, err = r.revisions(ctx)
	default:
		return nil, errors.ErrUnsupported
	}
	return found, err
}

// listed are the branches and tags of a repository by their full names.
type listed struct {
	ids map[string]objects.ID
	// main is the full name of the default branch; "" for none.
	main string
}

const headsPrefix, tagsPrefix = "refs/heads/", "refs/tags/"

// choose finds the branch that is read by default: the one that the source is
// configured to read, else the one that HEAD names.
func (l *listed) choose(configured, head string) {
	for _, name := range append(candidates(configured), head) {
		if _, ok := l.ids[name]; ok && strings.HasPrefix(name, headsPrefix) {
			l.main = name
			return
		}
	}
}

// revisions makes the lists, by name, without what only commits tell.
func (l *listed) revisions() *Revisions {
	out := &Revisions{Default: strings.TrimPrefix(l.main, headsPrefix)}
	for name, id := range l.ids {
		if short, ok := strings.CutPrefix(name, headsPrefix); ok {
			out.Branches = append(out.Branches, Revision{Name: short, Commit: id.String()})
		} else if short, ok := strings.CutPrefix(name, tagsPrefix); ok {
			out.Tags = append(out.Tags, Revision{Name: short, Commit: id.String()})
		}
	}
	for _, refs := range [][]Revision{out.Branches, out.Tags} {
		slices.SortFunc(refs, func(a, b Revision) int {
			return strings.Compare(a.Name, b.Name)
		})
	}
	if i := slices.IndexFunc(out.Branches, func(b Revision) bool { return b.Name == out.Default }); i > 0 {
		first := out.Branches[i]
		out.Branches = slices.Insert(slices.Delete(out.Branches, i, i+1), 0, first)
	}
	return out
}

// revisions reads the repository in place.
func (l *local) revisions(ctx context.Context) (*Revisions, error) {
	at, err := openLayout(l.path)
	if err != nil {
		return nil, err
	}
	refs, err := at.listed(l.ref)
	if err != nil {
		return nil, err
	}
	db, err := at.objects()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	out := refs.revisions()
	for i := describedLocal; i < len(out.Tags); i++ {
		out.Tags[i].Commit = "" // it may be a tag's own id
	}
	if err = out.describe(ctx, db, describedLocal, describedLocal); err != nil && ctx.Err() == nil {
		err = unreadable(l.name, out.Default, err)
	}
	return out, err
}

// listed reads all branches and tags; ref is what the source is configured to
// read.
func (l layout) listed(ref string) (*listed, error) {
	if _, _, err := l.lookup(ref); err != nil {
		return nil, err // refs of a kind that is not read
	}
	repo, err := l.engine()
	if err != nil {
		return nil, l.unreadableRefs(err)
	}
	refs, err := repo.References()
	if err != nil {
		return nil, l.unreadableRefs(err)
	}
	defer refs.Close()
	out := &listed{ids: map[string]objects.ID{}}
	for {
		r, err := refs.Next()
		if err != nil {
			break // the end: they were all read before
		}
		if r.Type() == plumbing.HashReference {
			out.add(r.Name().String(), r.Hash())
		}
	}
	head, _ := l.loose("HEAD")
	out.choose(ref, strings.TrimPrefix(head, "ref: "))
	return out, nil
}

// add notes a branch or a tag, if it is one by a name that can be asked for.
func (l *listed) add(name string, id plumbing.Hash) {
	if (strings.HasPrefix(name, headsPrefix) || strings.HasPrefix(name, tagsPrefix)) && safeRef(name) && !id.IsZero() {
		l.ids[name] = objects.ID(id)
	}
}

// revisions lists the server's refs and fetches some commits.
func (r *remote) revisions(ctx context.Context) (*Revisions, error) {
	o, done, err := r.elsewhere(r.cfg.Ref)
	if err != nil {
		return nil, err
	}
	defer done()
	var out *Revisions
	fetched := false
	err = o.withPast(ctx, func(ctx context.Context, dir string) (err error) {
		out, fetched, err = o.fetchRevisions(ctx, dir)
		return err
	}, func(ctx context.Context, db *objects.DB) error {
		if !fetched {
			return nil
		}
		return out.describe(ctx, db, describedRemote, 0)
	})
	return out, err
}

// fetchRevisions lists the refs and fetches what describes some of them in the
// same conversation; fetched is false where the server cannot leave files out,
// or where that is more than is worth while.
func (r *remote) fetchRevisions(ctx context.Context, dir string) (out *Revisions, fetched bool, err error) {
	w, err := r.dial(ctx)
	if err != nil {
		return nil, false, err
	}
	defer w.close()
	refs, err := w.advertise(ctx)
	if err != nil {
		return nil, false, err
	}
	all := listedAt(refs, r.cfg.Ref)
	out = all.revisions()
	if len(out.Branches) == 0 {
		return out, false, nil
	}
	id, _ := objects.ParseID(out.Branches[0].Commit)
	req, err := requestLine(refs, id, recentCommits)
	if err != nil || req.Filter == "" {
		return out, false, nil
	}
	for _, b := range out.Branches[1:min(len(out.Branches), describedRemote)] {
		if h := plumbing.NewHash(b.Commit); !slices.Contains(req.Wants, h) {
			req.Wants = append(req.Wants, h)
		}
	}
	path := filepath.Join(dir, "objects", "pack", "pack-line.pack")
	err = r.takePack(ctx, w, req, path, maxRevisionBytes, objects.IndexLimits{Objects: maxPastObjects, BlobBytes: r.cfg.Limits.FileBytes})
	var many *objects.TooManyError
	if errors.Is(err, errTooMuch) || errors.As(err, &many) {
		return out, false, nil
	}
	return out, err == nil, err
}

// listedAt are a server's branches and tags; ref is what the source is
// configured to read.
func listedAt(refs *packp.AdvRefs, ref string) *listed {
	out := &listed{ids: map[string]objects.ID{}}
	for name, id := range refs.References {
		if peeled, ok := refs.Peeled[name]; ok {
			id = peeled
		}
		out.add(name, id)
	}
	out.choose(ref, headOf(refs))
	return out
}

// describe tells more of the first branches and tags, so many of each, and the
// last commits of the default branch.
func (v *Revisions) describe(ctx context.Context, db *objects.DB, branches, tags int) (err error) {
	if v.Branches, err = describeAll(ctx, db, v.Branches, branches); err != nil {
		return err
	}
	if v.Tags, err = describeAll(ctx, db, v.Tags, tags); err != nil {
		return err
	}
	if len(v.Branches) == 0 || v.Branches[0].Name != v.Default {
		return nil
	}
	tip, _ := objects.ParseID(v.Branches[0].Commit)
	v.Commits, v.Older, err = newest(ctx, db, tip, recentCommits)
	return err
}

// describeAll tells more of the first refs and leaves out those that name no
// commit, or one that is not there.
func describeAll(ctx context.Context, db *objects.DB, refs []Revision, most int) ([]Revision, error) {
	out := refs[:0]
	for i, r := range refs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id, _ := objects.ParseID(r.Commit)
		if i >= most {
			out = append(out, r)
			continue
		}
		told, _, err := describeCommit(db, id)
		if errors.Is(err, objects.ErrNotFound) || errors.Is(err, errNotCommit) {
			continue
		}
		if err != nil {
			return nil, err
		}
		told.Name = r.Name
		out = append(out, told)
	}
	return out, nil
}

// describeCommit reads a commit, through annotated tags, for people.
func describeCommit(db *objects.DB, id objects.ID) (Revision, commit, error) {
	c, data, err := readCommitText(db, id)
	if err != nil {
		return Revision{}, c, err
	}
	r := Revision{Name: c.id.String(), Commit: c.id.String(), Author: onOneLine(c.info.Author), At: c.info.Time}
	head, message, _ := bytes.Cut(data, []byte("\n\n"))
	for line := range bytes.Lines(head) {
		if by, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("committer ")); ok {
			if _, at := parseAuthor(string(by)); !at.IsZero() {
				r.At = at
			}
		}
	}
	title, _, _ := bytes.Cut(bytes.TrimLeft(message, "\n"), []byte("\n"))
	r.Title = onOneLine(string(title[:min(len(title), 4*maxTitle)]))
	return r, c, nil
}

// onOneLine makes what somebody wrote fit for a list.
func onOneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	if len(s) > maxTitle {
		s = strings.ToValidUTF8(s[:maxTitle-len("…")], "") + "…"
	}
	return strings.TrimSpace(s)
}

// newest walks back from a commit, by time where lines of history meet; older
// tells that there is more.
func newest(ctx context.Context, db *objects.DB, tip objects.ID, most int) (out []Revision, older bool, err error) {
	r, c, err := describeCommit(db, tip)
	if err != nil {
		return nil, false, err
	}
	told, seen := map[objects.ID]Revision{c.id: r}, map[objects.ID]bool{c.id: true}
	lines := fronts{&front{commit: c}}
	for ; len(lines) > 0 && len(out) < most; err = ctx.Err() {
		if err != nil {
			return nil, false, err
		}
		f, _ := heap.Pop(&lines).(*front)
		out = append(out, told[f.commit.id])
		for _, id := range f.commit.parents {
			if seen[id] {
				continue
			}
			seen[id] = true
			r, c, err := describeCommit(db, id)
			if errors.Is(err, objects.ErrNotFound) {
				older = true
				continue
			}
			if err != nil {
				return nil, false, err
			}
			told[id] = r
			heap.Push(&lines, &front{commit: c})
		}
	}
	return out, older || len(lines) > 0, nil
}
