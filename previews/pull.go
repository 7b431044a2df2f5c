package previews

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// PullRef names a pull request (on GitLab a merge request): the forge by the
// name that it is configured under, the repository's full name there, and the
// number.
type PullRef struct {
	Forge, Repository string
	Number            int64
}

// String is the id under which a pull request is kept.
func (r PullRef) String() string { return fmt.Sprintf("%s:%s#%d", r.Forge, r.Repository, r.Number) }

// ParsePullRef reads what String writes.
func ParsePullRef(s string) (at PullRef, ok bool) {
	forge, rest, ok := strings.Cut(s, ":")
	i := strings.LastIndexByte(rest, '#')
	if !ok || i < 0 {
		return at, false
	}
	n, err := strconv.ParseInt(rest[i+1:], 10, 64)
	return PullRef{Forge: forge, Repository: rest[:i], Number: n}, err == nil && n > 0
}

// PullRequest is a pull request as its forge tells it.
type PullRequest struct {
	URL, Title, Author string
	// CloneURLs are addresses of the repository that it is to be merged into.
	CloneURLs []string
	// Ref is the ref of that repository under which Git finds its commits, and
	// Head the id of the last one.
	Ref, Head string
	// Open tells that it is neither merged nor closed, and Merged that it is
	// merged.
	Open, Merged bool
	// Fork tells that its commits come from another repository, into which
	// people may push who may not push into this one.
	Fork bool
}

// PullForges is where pull requests are.
type PullForges interface {
	// PullRequest reads one; not_found where there is none, or no such
	// repository.
	PullRequest(ctx context.Context, at PullRef) (PullRequest, error)
	// ChangedFiles are the paths that it changes; all is false where there are
	// more than the forge lists.
	ChangedFiles(ctx context.Context, at PullRef) (paths []string, all bool, err error)
	// OpenPulls are the pull requests of a repository that are open, each with
	// its newest commit; at has no number. not_found where the repository is
	// at no forge that is known.
	OpenPulls(ctx context.Context, repository string) (at PullRef, heads map[int64]string, err error)
	// Comment keeps one comment of Fairlead's at it, which a marker that nobody
	// is shown tells from others: it is written anew, or in the place of the
	// one before.
	Comment(ctx context.Context, at PullRef, marker, text string) error
}

// PullState is what is known of a pull request.
type PullState struct {
	PullRequest
	// OpenedAt is when it was first seen open, or open again.
	OpenedAt time.Time
	// ReadAt is when the forge was asked last, and Told which of its words that
	// answered.
	ReadAt time.Time
	Told   int64
	// Services are those that are previewed for it, as of commit Of.
	Services []string
	Of       string
	// Comment is the hash of the comment that was written last.
	Comment string
	// Failures counts the turns in a row that did not come to their end.
	Failures int
}

// PullRecord is what is kept of a pull request.
type PullRecord struct {
	PullRef
	// Told grows with each word of the forge's about it.
	Told  int64
	State PullState
}

// PullNotes is where it is noted that there is news of pull requests.
type PullNotes interface {
	// TellPull notes that there is news of one.
	TellPull(ctx context.Context, at PullRef, now time.Time) error
	// PullHeads are those of a repository that are not done with, each with the
	// commit that was seen last; at needs no number.
	PullHeads(ctx context.Context, at PullRef) (map[int64]string, error)
	// DuePulls are those to look after now; they are not due again for a while.
	DuePulls(ctx context.Context, now time.Time) ([]PullRef, error)
}

// PullClaims is where pull requests are looked after.
type PullClaims interface {
	// ClaimPull takes one for holder until a time; ok is false where somebody
	// else has it, or there is none.
	ClaimPull(ctx context.Context, at PullRef, holder string, now, until time.Time) (r PullRecord, ok bool, err error)
	// ReportPull puts its state down and lets it go. It is due again at due, at
	// once where there was news since, and never where over tells that it is
	// done with.
	ReportPull(ctx context.Context, r PullRecord, holder string, due, now time.Time, over bool) error
	// PreviewsOfPull are the previews that follow it, oldest first, those that
	// are gone included.
	PreviewsOfPull(ctx context.Context, at PullRef) ([]Record, error)
	// AdvancePreview has a preview that is not ending run another commit, and
	// end at until, if that is later than it would. failed_precondition where
	// it is ending.
	AdvancePreview(ctx context.Context, id string, to Checkout, until, now time.Time, by string) (Record, error)
}
