package forge

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The bounds of lists that are read of one pull request or repository.
const (
	// PullPages is how many pages of comments or pull requests are read.
	PullPages = 20
	// maxChecks is how many checks are told.
	maxChecks = 100
)

// Commenter keeps comments on pull requests, for one account, and reads what
// these are about.
type Commenter interface {
	// UpsertComment writes the one comment of this account that carries a
	// marker, a word that people do not see; an empty body removes it.
	UpsertComment(ctx context.Context, repository string, number int64, marker, body string) error
	// OpenPulls lists the pull requests that are open, without checks and
	// reviews, newest first.
	OpenPulls(ctx context.Context, repository string) ([]gitops.Pull, error)
	// ClosePull closes one without merging it.
	ClosePull(ctx context.Context, repository string, number int64) error
	// ChangedFiles are the paths that a pull request changes, those that it
	// renames by both names; all is false where there are more.
	ChangedFiles(ctx context.Context, repository string, number int64) (paths []string, all bool, err error)
}

// Comment is a comment on a pull request as far as it matters here.
type Comment struct {
	ID     int64
	Author string
	Body   string
}

// Comments is what a forge lets do with the comments on one pull request.
type Comments struct {
	// List gives all, oldest first.
	List func() ([]Comment, error)
	// Add, Edit and Remove change one.
	Add    func(body string) error
	Edit   func(id int64, body string) error
	Remove func(id int64) error
}

// Upsert makes the comment of an account that carries a marker say a body, or
// removes it where there is none. Others that carry it are removed, so that one
// stays although two writers ran at once. With an unknown account, "", whoever
// wrote the comment is taken to be it.
func (c Comments) Upsert(account, marker, body string) error {
	if marker == "" || strings.Trim(strings.ToLower(marker), "abcdefghijklmnopqrstuvwxyz0123456789-_.:/") != "" {
		return fault.New(fault.Invalid, "%.100q is no marker of a comment", marker).WithFix("Use letters, digits and dashes.")
	}
	hidden := "<!-- " + marker + " -->"
	all, err := c.List()
	if err != nil {
		return err
	}
	wanted := strings.TrimRight(body, "\n") + "\n\n" + hidden
	var own []Comment
	for _, one := range all {
		if strings.Contains(one.Body, hidden) && (account == "" || strings.EqualFold(one.Author, account)) {
			own = append(own, one)
		}
	}
	if body != "" && len(own) == 0 {
		return c.Add(wanted)
	}
	if body != "" {
		first := own[0]
		own = own[1:]
		if strings.TrimSpace(first.Body) != wanted {
			if err := c.Edit(first.ID, wanted); err != nil {
				return err
			}
		}
	}
	for _, one := range own {
		if err := c.Remove(one.ID); err != nil {
			return err
		}
	}
	return nil
}

// Account is the login name behind a token, asked for once.
type Account struct {
	mu   sync.Mutex
	name string
}

// Name gives the name; "" where the forge does not tell it, as to the tokens of
// apps.
func (a *Account) Name(ask func() (string, error)) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.name == "" {
		if name, err := ask(); err == nil {
			a.name = name
		}
	}
	return a.name
}

// Split parts a repository's full name into owner and name.
func Split(repository string) (owner, name string, err error) {
	at := strings.LastIndexByte(repository, '/')
	var ps Problems
	if ValidateName(&ps, "", repository); at <= 0 || len(ps) > 0 {
		return "", "", fault.New(fault.Invalid, "%.200q is no full name of a repository", repository).WithFix("Write the owner and the name, for example acme/shop.")
	}
	return repository[:at], repository[at+1:], nil
}

// Checks orders checks by name, and keeps of each name the one that came last.
func Checks(all []gitops.Check) []gitops.Check {
	last := map[string]gitops.Check{}
	for _, c := range all {
		last[c.Name] = c
	}
	out := make([]gitops.Check, 0, len(last))
	for _, c := range last {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b gitops.Check) int { return strings.Compare(a.Name, b.Name) })
	return out[:min(len(out), maxChecks)]
}

// Reviews keeps who approved and who rejected, of each the last word.
type Reviews struct{ last map[string]string }

// Add notes one, in the order in which they were made.
func (r *Reviews) Add(who, verdict string) {
	if r.last == nil {
		r.last = map[string]string{}
	}
	r.last[who] = verdict
}

// The verdicts of reviews.
const (
	Approves = "approves"
	Rejects  = "rejects"
	Takes    = "takes back" // what was said before
)

// Into puts the names into a pull request.
func (r *Reviews) Into(p *gitops.Pull) {
	for who, verdict := range r.last {
		switch verdict {
		case Approves:
			p.Approved = append(p.Approved, who)
		case Rejects:
			p.Rejected = append(p.Rejected, who)
		}
	}
	slices.Sort(p.Approved)
	slices.Sort(p.Rejected)
}

// Paged gathers pages until one comes that is not full; all is false where
// there are more than are read.
func Paged[T any](size int, page func(n int) ([]T, error)) (out []T, all bool, err error) {
	return paged(size, PullPages, page)
}

func paged[T any](size, most int, page func(n int) ([]T, error)) (out []T, all bool, err error) {
	for n := 1; n <= most; n++ {
		some, err := page(n)
		if err != nil {
			return nil, false, err
		}
		out = append(out, some...)
		if len(some) < size {
			return out, true, nil
		}
	}
	return out, false, nil
}

// Paths are the names of changed files, each once, in order.
func Paths(names ...string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > 0 && names[0] == "" {
		return names[1:]
	}
	return names
}

// Drafted is a title with the mark that makes a draft on forges that know it by
// that alone.
func Drafted(title, mark string, draft bool) string {
	if draft {
		return mark + " " + title
	}
	return title
}

// Undrafted is a title without the mark.
func Undrafted(title string, marks ...string) string {
	for _, mark := range marks {
		if len(title) >= len(mark) && strings.EqualFold(title[:len(mark)], mark) {
			return strings.TrimSpace(title[len(mark):])
		}
	}
	return title
}

// Newest is the open one of some pull requests, else the newest; nil of none.
// Those of forks do not count: whose branch has the same name is another's.
func Newest(all []gitops.Pull) *gitops.Pull {
	all = slices.DeleteFunc(slices.Clone(all), func(p gitops.Pull) bool { return p.Fork })
	if len(all) == 0 {
		return nil
	}
	newest := slices.MaxFunc(all, func(a, b gitops.Pull) int {
		open := func(p gitops.Pull) int { return map[bool]int{true: 1}[p.State == gitops.PullOpen] }
		return cmp.Or(cmp.Compare(open(a), open(b)), cmp.Compare(a.Number, b.Number))
	})
	return &newest
}

// Noted adds what could not be done to a pull request, in words for people.
func Noted(p *gitops.Pull, what string, err error) {
	if err != nil {
		p.Notes = append(p.Notes, what+": "+fault.From(err).Message)
	}
}
