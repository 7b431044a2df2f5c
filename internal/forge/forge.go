package forge

import (
	"context"
	"time"
)

// Repository is one repository as its forge lists it.
type Repository struct {
	// FullName is the owner and the name, "acme/shop"; on GitLab with every
	// group between.
	FullName string
	// CloneURL is where Git reads it over HTTP, without credentials.
	CloneURL string
	// WebURL is its page, without credentials.
	WebURL string
	// DefaultBranch is the branch that the forge shows; "" if it has none.
	DefaultBranch string
	// Head is the commit id of the default branch; "" if the listing does not
	// tell it.
	Head string
	// Archived repositories are read-only.
	Archived bool
	// Fork tells that it was made from another repository.
	Fork bool
	// Empty tells that there is no commit in it.
	Empty bool
	// Topics are in alphabetical order.
	Topics []string
	// Updated is when the forge last saw activity in it.
	Updated time.Time
}

// Lister lists the repositories of an organization, a user or a group. The
// list is ordered by name and complete: what cannot be listed whole is an
// error.
type Lister interface {
	Repositories(ctx context.Context) ([]Repository, error)
}

// The kinds of events.
const (
	// KindPush tells that a branch or tag moved.
	KindPush = "push"
	// KindPullRequest tells that a pull or merge request changed.
	KindPullRequest = "pull_request"
	// KindRepository tells that a repository was made, renamed, archived or
	// removed, so that the list of repositories is worth reading again.
	KindRepository = "repository"
	// KindPing is a forge's test of the hook.
	KindPing = "ping"
	// KindOther is an event that nothing is known to do about.
	KindOther = "other"
)

// Event is what a webhook told, its signature verified.
type Event struct {
	// Kind is one of the kinds above.
	Kind string
	// Repository is the full name; "" where the event concerns none.
	Repository string
	// CloneURLs are the addresses that the forge gives of the repository.
	CloneURLs []string
	// Ref is the full name of what was pushed, "refs/heads/main".
	Ref string
	// Before and After are the commit ids that Ref moved between; "" where
	// it was made or deleted.
	Before, After string
	// Number is that of the pull request; 0 where the event concerns none.
	Number int64
	// Deleted tells that Ref is gone.
	Deleted bool
	// Delivery is the forge's id of this delivery; "" if it gives none.
	Delivery string
	// Replay tells that this delivery has been seen before: acting on it
	// again is harmless, and needless.
	Replay bool
}

// Problem is one thing wrong with a configuration.
type Problem struct {
	// Field is the key below the section, for example credentials.tokenFile.
	Field string
	// Message says what is wrong and what to write.
	Message string
}
