package previews

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/maruel/natural"
	"golang.org/x/mod/semver"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// ListRevisionsInput names a service and what its revisions are to hold.
type ListRevisionsInput struct {
	Service string `json:"service" jsonschema:"bare name or reference"`
	Query   string `json:"query,omitempty" jsonschema:"only names with this in them, and commits with it in their title or author or at the beginning of their id; case does not matter"`
	Limit   int    `json:"limit,omitempty" jsonschema:"of each kind, 1 to 100, default 20"`
}

// Revision is a branch, a tag or a commit that a preview can be made of.
type Revision struct {
	Name   string    `json:"name" jsonschema:"what it is asked for by: the name of a branch or tag, the id of a commit"`
	Commit string    `json:"commit,omitempty" jsonschema:"full id of its commit; absent where that was not read"`
	Title  string    `json:"title,omitempty" jsonschema:"first line of the commit's message; absent where it was not read"`
	Author string    `json:"author,omitempty" jsonschema:"who wrote it"`
	At     time.Time `json:"at,omitzero" jsonschema:"when it was committed"`
}

// RevisionList is one kind of revisions.
type RevisionList struct {
	Items []Revision `json:"items"`
	More  bool       `json:"more" jsonschema:"there are more than these; ask for fewer by query"`
}

// Revisions are the revisions of the repository that a service is in.
type Revisions struct {
	Service       string       `json:"service" jsonschema:"full reference"`
	DefaultBranch string       `json:"defaultBranch,omitempty" jsonschema:"the branch that is used where none is named"`
	Branches      RevisionList `json:"branches" jsonschema:"the default branch first, then the newest; those whose commits were not read come last, by name"`
	Tags          RevisionList `json:"tags" jsonschema:"highest version first"`
	Commits       RevisionList `json:"commits" jsonschema:"of the default branch, newest first; more tells of older ones, which are not searched"`
}

const (
	// revisionsKeep is how long the revisions of a repository serve others.
	revisionsKeep = 5 * time.Second
	// revisionsPatience is how long they may take to be listed.
	revisionsPatience = 10 * time.Second
	// revisionsMost is of how many repositories they are kept at a time.
	revisionsMost = 32

	defaultRevisions, maxRevisions = 20, 100
)

// Refs are the revisions of a whole repository.
type Refs struct {
	// Default is the default branch; "" for none.
	Default string
	// Branches and Tags are in any order, Commits those of the default branch,
	// newest first.
	Branches, Tags, Commits []Revision
	// Older tells that the default branch has more commits.
	Older bool
}

// refsLook is what one look at a repository has found.
type refsLook struct {
	refs *Refs
	err  error
}

// ListRevisions lists branches, tags and the last commits of a service's own
// repository, of each kind so many. Faults: invalid (query, limit), not_found
// (the service), failed_precondition (it is in no repository that is read),
// unavailable.
func (s *Service) ListRevisions(ctx context.Context, who access.Caller, in ListRevisionsInput) (*Revisions, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	if in.Limit == 0 {
		in.Limit = defaultRevisions
	}
	if in.Limit < 0 || in.Limit > maxRevisions {
		return nil, fault.New(fault.Invalid, "limit is %d, not between 1 and %d", in.Limit, maxRevisions).WithFix("Ask for at most %d of each kind.", maxRevisions)
	}
	if err := checkText("query", in.Query, 250); err != nil {
		return nil, err
	}
	e, err := s.cfg.Catalog.GetEntity(ctx, who, catalog.GetEntityInput{Ref: in.Service})
	if err != nil {
		return nil, err
	}
	if !s.cfg.Policy.Scope(who, access.ReadPreviews).Allows(index.AttributesOf(e)) {
		return nil, fault.New(fault.NotFound, "no revisions of %s that you may list", e.Ref).
			WithFix("Ask its owner, or those who keep the policy for a rule that allows %s.", access.ReadPreviews)
	}
	refs, err := s.refs(ctx, e)
	if err != nil {
		return nil, err
	}
	return refs.matching(e.Ref.String(), strings.ToLower(in.Query), in.Limit), nil
}

// refs are the revisions of the repository that an entity is in, in the order
// in which they are told.
func (s *Service) refs(ctx context.Context, e *catalog.Entity) (*Refs, error) {
	at, err := s.cfg.Repositories.Locate(e)
	if err != nil {
		return nil, err
	}
	look, err := s.revisions.Book(at.Repository+"\x00"+e.From.Source, func(ctx context.Context) refsLook {
		refs, err := s.cfg.Repositories.Revisions(ctx, e)
		if err != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				err = fault.New(fault.Unavailable, "listing the revisions of the repository of %s took longer than %s", e.Ref, revisionsPatience).
					WithFix("Try again, or name the revision without a list.").Because(err)
			}
			return refsLook{err: err}
		}
		refs.sort()
		return refsLook{refs: refs}
	}).Wait(ctx)
	if err != nil {
		return nil, err
	}
	return look.refs, look.err
}

// sort puts branches and tags into the order in which they are told.
func (r *Refs) sort() {
	slices.SortFunc(r.Branches, func(a, b Revision) int {
		if (a.Name == r.Default) != (b.Name == r.Default) {
			return map[bool]int{true: -1, false: 1}[a.Name == r.Default]
		}
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(r.Tags, func(a, b Revision) int { return byVersion(b.Name, a.Name) })
}

// byVersion compares tags: versions by their rules, after all others, which go
// by the numbers in them.
func byVersion(a, b string) int {
	va, vb := "v"+strings.TrimPrefix(a, "v"), "v"+strings.TrimPrefix(b, "v")
	if semver.IsValid(va) != semver.IsValid(vb) {
		return map[bool]int{true: 1, false: -1}[semver.IsValid(va)]
	}
	if c := semver.Compare(va, vb); c != 0 {
		return c
	}
	return natural.Compare(a, b)
}

// matching are those that hold a text, of each kind so many.
func (r *Refs) matching(service, text string, most int) *Revisions {
	out := &Revisions{Service: service, DefaultBranch: r.Default, Branches: holding(r.Branches, text, most), Tags: holding(r.Tags, text, most), Commits: RevisionList{Items: []Revision{}}}
	for _, c := range r.Commits {
		if text != "" && !strings.HasPrefix(c.Name, text) && !strings.Contains(strings.ToLower(c.Title), text) && !strings.Contains(strings.ToLower(c.Author), text) {
			continue
		}
		if len(out.Commits.Items) == most {
			out.Commits.More = true
			break
		}
		out.Commits.Items = append(out.Commits.Items, c)
	}
	out.Commits.More = out.Commits.More || r.Older
	return out
}

// holding are the revisions whose names hold a text: the one that is called so
// first, then those that begin with it.
func holding(all []Revision, text string, most int) RevisionList {
	var ranks [3][]Revision
	for _, r := range all {
		name := strings.ToLower(r.Name)
		switch {
		case name == text:
			ranks[0] = append(ranks[0], r)
		case text != "" && strings.HasPrefix(name, text):
			ranks[1] = append(ranks[1], r)
		case strings.Contains(name, text):
			ranks[2] = append(ranks[2], r)
		}
	}
	found := slices.Concat([]Revision{}, ranks[0], ranks[1], ranks[2])
	return RevisionList{Items: found[:min(len(found), most)], More: len(found) > most}
}
