package check

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/compare"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git"
)

// Diff is what the files make now compared with what they made at a revision.
type Diff struct {
	// Rev is the revision as written, Bases the commits that it names.
	Rev   string `json:"rev"`
	Bases []Base `json:"bases"`
	// Files and Entities count what there is now.
	Files    int `json:"files"`
	Entities int `json:"entities"`
	compare.Difference
	// Worse tells that there are new errors, conflicts or broken relations.
	Worse bool `json:"worse"`

	// origins are the folder and the path of each file shown.
	origins map[string]origin
}

// Base is the commit that a repository is compared with.
type Base struct {
	Repository string `json:"repository"`
	Commit     string `json:"commit"`
}

// origin is a file within its repository or folder.
type origin struct{ root, path string }

// Compare checks the files in the work tree and as they were at a revision of
// the repositories that they lie in, and tells what differs. Rev is a branch,
// a tag, a commit or an expression such as HEAD~2; with "..." at its end it
// means the newest commit that it has in common with HEAD. An error is not_found
// where a path is in no repository, or the repository does not hold the
// revision, as one with a shallow history may not.
func Compare(ctx context.Context, o Options, rev string) (*Diff, error) {
	if strings.TrimSpace(rev) == "" || strings.Index(rev, ":") > 0 {
		return nil, fault.New(fault.Invalid, "--diff: %q names no commit", rev).WithFix("Name a branch, a tag or a commit, for example --diff origin/main.")
	}
	now, err := collect(o, true)
	defer closeAll(now)
	if err != nil {
		return nil, err
	}
	d := &Diff{Rev: rev}
	var then []*folder
	defer func() { closeAll(then) }()
	for _, f := range now {
		was, commit, err := f.past(ctx, rev)
		if err != nil {
			return nil, err
		}
		then = append(then, was)
		d.Bases = append(d.Bases, Base{Repository: f.dir, Commit: commit})
		if err := pickBoth(ctx, f, was, o.All); err != nil {
			return nil, err
		}
	}
	return d, d.fill(ctx, o, then, now)
}

// pickBoth picks the files of both sides; a path may be empty on one of them.
func pickBoth(ctx context.Context, now, then *folder, all bool) error {
	empty, err := now.pick(ctx, all)
	if err != nil {
		return err
	}
	before, err := then.pick(ctx, all)
	if err != nil {
		return err
	}
	was := map[string]bool{}
	for _, p := range before {
		was[p] = true
	}
	for _, p := range empty {
		if was[p] {
			return nothingBelow(p, all)
		}
	}
	return nil
}

// fill checks both sides and compares them.
func (d *Diff) fill(ctx context.Context, o Options, then, now []*folder) error {
	before, err := inspect(ctx, o, then)
	if err != nil {
		return err
	}
	for _, f := range then {
		if err := f.close(); err != nil {
			return err
		}
	}
	after, err := inspect(ctx, o, now)
	if err != nil {
		return err
	}
	d.Files, d.Entities = after.report.Files, after.report.Entities
	d.Difference = *compare.Sets(before.compared(), after.compared())
	d.Worse = d.Difference.Worse()
	d.origins = before.origins
	for file, at := range after.origins {
		d.origins[file] = at
	}
	return nil
}

// past is the folder as it was at a revision, and the commit that it names.
func (f *folder) past(ctx context.Context, rev string) (*folder, string, error) {
	name := rev
	if base, common := strings.CutSuffix(rev, "..."); common {
		commit, err := git.MergeBase(f.dir, base, "HEAD")
		if err != nil {
			return nil, "", err
		}
		name = commit
	}
	tree, err := git.OpenLocal(f.dir, name)
	if err != nil {
		return nil, "", git.Explain(f.dir, name, err)
	}
	c, err := openCommit(ctx, tree)
	if err != nil {
		tree.Close()
		return nil, "", err
	}
	return f.at(c), tree.Info().Commit, nil
}

// note keeps what comparisons need of a file that has been looked at.
func (c *checker) note(f *file) {
	name := f.in.display(f.path)
	c.origins[name] = origin{f.in.dir, f.path}
	c.set.Files = append(c.set.Files, name)
	if f.unusable {
		c.set.Unusable = append(c.set.Unusable, name)
	}
}

// describe keeps what a document makes of an entity.
func (c *checker) describe(f *file, d *descriptor.Document, res *descriptor.Result, owner string) {
	e := entity.Entity{Root: res.Entity}
	c.set.Descriptions = append(c.set.Descriptions, compare.Description{
		Ref: d.Ref.String(), Title: e.Title(), Owner: owner,
		Place:   compare.Place{File: f.in.display(f.path), Line: d.At.Line},
		Content: written(res.Entity, d.Raw), Edges: res.Edges,
	})
}

// written is a processed descriptor without the annotations that processing
// adds: where a file is makes no difference to what it says.
func written(root, raw *entity.Object) *entity.Object {
	own := raw.Object("metadata").Object("annotations")
	said := make(map[string]bool, own.Len())
	for key := range own.All() {
		said[key] = !strings.HasPrefix(key, "backstage.io/managed-by-")
	}
	kept := &entity.Object{}
	for key, v := range root.Object("metadata").Object("annotations").All() {
		if said[key] {
			kept.Members = append(kept.Members, entity.Member{Key: key, Value: v})
		}
	}
	meta := &entity.Object{Members: append([]entity.Member(nil), root.Object("metadata").Members...)}
	meta.Set("annotations", kept)
	if kept.Len() == 0 {
		meta.Delete("annotations")
	}
	out := &entity.Object{Members: append([]entity.Member(nil), root.Members...), At: root.At}
	out.Set("metadata", meta)
	return out
}

// compared is everything found, for comparison.
func (c *checker) compared() *compare.Set {
	for i := range c.report.Findings {
		f := &c.report.Findings[i]
		c.set.Problems = append(c.set.Problems, compare.Problem{Problem: f.Problem, Owner: f.Owner})
	}
	return &c.set
}
