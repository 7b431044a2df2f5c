package gitops

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// What keeps a proposal from being merged.
const (
	// BlockedByForge says that the forge could not be asked.
	BlockedByForge = "forge"
	// BlockedByConflict says that the base has changed the same lines.
	BlockedByConflict = "conflict"
	// BlockedByApproval says that policy wants more before it is made anew.
	BlockedByApproval = "approval"
	// BlockedByChecks says that checks have failed.
	BlockedByChecks = "checks"
	// BlockedByReview says that reviewers ask for changes, or have not reviewed.
	BlockedByReview = "review"
	// BlockedByDraft says that people have marked it as not ready.
	BlockedByDraft = "draft"
	// BlockedByBase says that it has to be brought up to the base first.
	BlockedByBase = "behind"
	// BlockedByStillness says that nothing has happened for days.
	BlockedByStillness = "stale"
)

// staleFor is after how long without any movement a pull request is stale.
const staleFor = 3 * 24 * time.Hour

// Blocker is one thing that keeps a proposal from being merged.
type Blocker struct {
	What   string    `json:"what" jsonschema:"forge, conflict, approval, checks, review, draft, behind or stale"`
	Detail string    `json:"detail"`
	Since  time.Time `json:"since,omitzero"`
	Next   string    `json:"next" jsonschema:"what to do about it"`
}

// approvable tells whether a pull request lacks reviews at most, or was merged.
func (r *Record) approvable() bool {
	p := &r.Pull
	if p.State == PullMerged {
		return true
	}
	return p.State == PullOpen && !p.Draft && p.Mergeable != MergeConflict && p.Mergeable != MergeUnknown && !slices.ContainsFunc(p.Checks, func(c Check) bool { return c.State != CheckPassed })
}

// blocking tells what keeps an open proposal from being merged, the most
// pressing first.
func (r *Record) blocking(now time.Time) (out []Blocker) {
	if r.State != Open {
		return nil
	}
	add := func(what, detail string, since time.Time, next string) {
		out = append(out, Blocker{what, detail, since, next})
	}
	p, c := &r.Pull, &r.Course
	if c.Trouble != "" {
		add(BlockedByForge, "the forge could not be asked: "+c.Trouble, r.CheckedAt, "Wait, or have the operators look at the forge; what is said here is how it was.")
	}
	if c.Stopped != "" {
		add(cmp.Or(c.StoppedBy, BlockedByConflict), "it is not made anew by itself: "+c.Stopped, time.Time{}, "Ask again with the same key: that says what is wanted.")
	}
	r.blockedByBase(add)
	if names := failing(p.Checks); len(names) > 0 {
		add(BlockedByChecks, "failed: "+strings.Join(names, ", "), c.Moved, "Look at why the checks failed, correct what is proposed, and ask again with the same key.")
	}
	r.blockedByPeople(add)
	if !c.Moved.IsZero() && now.Sub(c.Moved) > staleFor {
		add(BlockedByStillness, "nothing has happened since "+stamp(c.Moved), c.Moved, "Ask the owners of "+r.Service+" whether it is still wanted; close it at "+p.URL+" if not.")
	}
	return out
}

type addBlocker func(what, detail string, since time.Time, next string)

// blockedByBase is where the base stands against it.
func (r *Record) blockedByBase(add addBlocker) {
	const anew = "Ask again with the same key: it is made anew on the newest base."
	switch {
	case r.Course.Stopped != "" && r.Course.StoppedBy != BlockedByApproval:
	case r.Pull.Mergeable == MergeConflict && r.Course.Repairs < maxRepairs && r.Course.Stopped == "" && r.Asked != "":
		add(BlockedByConflict, "the base has changed the same lines", time.Time{}, "Wait: it is made anew on the newest base by itself. To have it now, ask again with the same key.")
	case r.Pull.Mergeable == MergeConflict:
		add(BlockedByConflict, "the base has changed the same lines", time.Time{}, anew)
	case r.behind():
		add(BlockedByBase, "the forge wants it to be up to date with "+r.Place.Base, time.Time{}, anew)
	}
}

// behind tells that the forge merges only what is up to date with the base.
func (r *Record) behind() bool {
	return r.Pull.Mergeable == MergeBlocked && (r.Pull.Blocked == "behind" || r.Pull.Blocked == "need_rebase")
}

// blockedByPeople is where reviewers have not agreed, or it is a draft.
func (r *Record) blockedByPeople(add addBlocker) {
	p, c := &r.Pull, &r.Course
	if p.Draft {
		add(BlockedByDraft, "it is marked as a draft", time.Time{}, "Have it marked as ready at "+p.URL+".")
	}
	waiting := slices.DeleteFunc(slices.Clone(c.Reviewers), func(who string) bool { return slices.Contains(p.Approved, who) || slices.Contains(p.Rejected, who) })
	switch {
	case len(p.Rejected) > 0:
		add(BlockedByReview, "changes are asked for by "+strings.Join(p.Rejected, ", "), c.Moved, "Read what they say at "+p.URL+", and ask again with the same key.")
	case len(p.Approved) > 0:
	case len(waiting) > 0:
		add(BlockedByReview, "nobody has approved it; asked to review: "+strings.Join(waiting, ", "), c.Opened, "Wait for people to review and merge it, or remind them.")
	default:
		add(BlockedByReview, "nobody has approved it, and nobody was asked to", c.Opened, "Wait for people to review and merge it, or ask the owners of "+r.Service+".")
	}
}

// failing names the checks that failed, with their pages.
func failing(checks []Check) (out []string) {
	for _, c := range checks {
		if c.State == CheckFailed {
			out = append(out, strings.TrimSpace(line(c.Name, 100)+" "+line(c.URL, 300)))
		}
	}
	return out
}
