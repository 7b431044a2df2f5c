package gitops

import (
	"context"
	"time"
)

// The states of a pull request.
const (
	PullOpen   = "open"
	PullMerged = "merged"
	PullClosed = "closed" // without being merged
)

// What a forge says of merging a pull request.
const (
	// MergeClean says that nothing stands against it.
	MergeClean = "clean"
	// MergeConflict says that the branches change the same.
	MergeConflict = "conflict"
	// MergeBlocked says that a rule does: reviews, checks, a draft.
	MergeBlocked = "blocked"
	// MergeUnknown says that the forge has not told.
	MergeUnknown = "unknown"
)

// The states of a check.
const (
	CheckPending = "pending"
	CheckPassed  = "passed"
	CheckFailed  = "failed"
)

// Forge is a host of repositories where pull requests are opened, for one
// account. Repositories are named in full, "acme/shop".
type Forge interface {
	// FindPull gives the pull request from a branch of the repository itself
	// into another: the open one, else the newest; nil where there is none.
	FindPull(ctx context.Context, repository, base, branch string) (*Pull, error)
	// OpenPull opens one.
	OpenPull(ctx context.Context, repository string, p NewPull) (*Pull, error)
	// UpdatePull gives one another title and body; "" leaves one of them.
	// Whether it is a draft stays as people have it.
	UpdatePull(ctx context.Context, repository string, number int64, title, body string) (*Pull, error)
	// GetPull gives one with its checks and reviews.
	GetPull(ctx context.Context, repository string, number int64) (*Pull, error)
}

// NewPull is a pull request to open.
type NewPull struct {
	// Title and Body are for people; the body is Markdown.
	Title, Body string
	// Base is the branch to merge into, Branch the one to merge.
	Base, Branch string
	// Labels are names; those that the forge lacks are made where it lets.
	Labels []string
	// Reviewers are login names, Teams names of teams, of the same owner.
	Reviewers, Teams []string
	// Draft marks it as not ready.
	Draft bool
}

// Pull is a pull request, or merge request, as its forge has it.
type Pull struct {
	// Number is the forge's within the repository.
	Number int64 `json:"number"`
	// URL is its page.
	URL string `json:"url"`
	// Title is without the mark of a draft; Body is as the forge has it.
	Title string `json:"title"`
	Body  string `json:"-"`
	// State is one of open, merged, closed.
	State string `json:"state"`
	// Draft tells that it is not ready.
	Draft bool `json:"draft,omitempty"`
	// Author is the login name of who opened it.
	Author string `json:"author,omitempty"`
	// Base and Branch are the branches that are merged into and from, Head the
	// commit that the latter is at.
	Base   string `json:"base"`
	Branch string `json:"branch"`
	Head   string `json:"head"`
	// Fork tells that Branch is one of another repository; Ref is where Git
	// finds Head in this one, whichever it is.
	Fork bool   `json:"fork,omitempty"`
	Ref  string `json:"-"`
	// Merged is the commit on the base that has it; "" until it is merged.
	Merged string `json:"merged,omitempty"`
	// Ended is when it was merged or closed.
	Ended time.Time `json:"ended,omitzero"`
	// Mergeable is one of clean, conflict, blocked, unknown; Blocked says why in
	// the forge's word.
	Mergeable string `json:"mergeable,omitempty"`
	Blocked   string `json:"blocked,omitempty"`
	// Checks are what ran on Head, by name.
	Checks []Check `json:"checks,omitempty"`
	// Approved and Rejected are who said so last.
	Approved []string `json:"approved,omitempty"`
	Rejected []string `json:"rejected,omitempty"`
	// Notes tell what could not be done, though the rest was.
	Notes []string `json:"notes,omitempty"`
}

// Check is one check of a commit.
type Check struct {
	Name string `json:"name"`
	// State is one of pending, passed, failed.
	State string `json:"state"`
	URL   string `json:"url,omitempty"`
}
