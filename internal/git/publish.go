package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

const (
	// maxChanges bounds the files of one publication, maxPublished their bytes.
	maxChanges   = 1000
	maxPublished = 32 << 20
	// maxMessage bounds the message of a commit in bytes.
	maxMessage = 64 << 10
)

// ErrMoved is in the chain of a conflict that comes of a branch that is not
// where it was expected. Making the change again on the newest commit may help.
var ErrMoved = errors.New("the branch has moved")

// Change is what becomes of one file.
type Change struct {
	// Path is relative to the repository's root, with slashes.
	Path string
	// Data is the whole content. It is nil where Delete is set.
	Data []byte
	// Delete removes the file, and the folders that are empty without it. A
	// file that is not there is removed already.
	Delete bool
	// Executable makes a new file one that may be run. A file that is there
	// keeps its mode.
	Executable bool
}

// Signature is who made a commit, and when.
type Signature struct {
	// Name and Email may not be empty; what Git cannot write is left out.
	Name, Email string
	// When is cut to seconds.
	When time.Time
}

// Publication is one commit, and the branch that it is pushed to. Equal
// publications make the same commit, so that one whose answer was lost can be
// repeated.
type Publication struct {
	// Base is the id of the commit that is changed and becomes the parent.
	Base string
	// BaseBranch, where it is not empty, is the branch that has to be at Base
	// still when the commit is pushed.
	BaseBranch string
	// Changes are made to the files of Base. Everything else stays as it is, to
	// the byte.
	Changes []Change
	// Message is the commit's, with its trailers.
	Message string
	// Author and Committer are written into the commit.
	Author, Committer Signature
	// Branch is where the commit goes; Expected the id of the commit that it
	// has to be at, "" where it must not exist. What the branch held before is
	// not kept, unless it is Base.
	Branch, Expected string
	// Token gives what pushes over HTTP in the place of the repository's own
	// credentials; nil for those. What is read is read with those.
	Token func() string
}

// ErrDenied is in the chain of the error of a push that a server does not let
// the account make.
var ErrDenied = errors.New("the account may not push")

// Published says what came of a publication.
type Published struct {
	// Commit is the id of the commit at the branch; "" where Unchanged.
	Commit string
	// Unchanged tells that the files of the base are as wanted already, and
	// that nothing was pushed.
	Unchanged bool
}

// Publish makes one commit and pushes it, without a clone: the folders along
// the changed paths are read, the new objects are made in memory. A branch that
// is elsewhere is a conflict with ErrMoved in its chain, what the server or its
// hooks refuse a failed_precondition with the server's words.
func (s *Source) Publish(ctx context.Context, p Publication) (Published, error) {
	if err := p.check(); err != nil {
		return Published{}, err
	}
	base, _ := objects.ParseID(p.Base)
	t, err := s.open(ctx, ingest.Revision(p.Base))
	if err != nil {
		return Published{}, err
	}
	defer t.Close()
	b := &builder{tree: t}
	root, err := b.root(ctx, t.commit.tree, p.Changes)
	if err != nil {
		return Published{}, err
	}
	if root == t.commit.tree {
		return Published{Unchanged: true}, nil
	}
	id := b.add(objects.Commit, p.commit(root, base))
	if err := s.push(ctx, update{p: p, id: id, objects: b.made}); err != nil {
		return Published{}, err
	}
	return Published{Commit: id.String()}, nil
}

// check finds what is wrong with a publication, whatever the repository holds.
func (p *Publication) check() error {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).WithFix("Correct it.")
	}
	_, isBase := objects.ParseID(p.Base)
	_, isExpected := objects.ParseID(p.Expected)
	total := 0
	for _, c := range p.Changes {
		total += len(c.Data)
	}
	switch {
	case !isBase:
		return bad("the base %q is no full commit id", p.Base)
	case p.Expected != "" && !isExpected:
		return bad("the expected head %q is no full commit id", p.Expected)
	case !safeRef(p.Branch) || strings.HasPrefix(p.Branch, "refs/") || p.Branch == "HEAD":
		return bad("%q cannot be the name of a branch; use letters, digits, and - / . between them", p.Branch)
	case p.BaseBranch != "" && !safeRef(p.BaseBranch):
		return bad("%q cannot be the name of a branch", p.BaseBranch)
	case p.Branch == p.BaseBranch && p.Expected != p.Base:
		return bad("a commit on the branch %s itself has to follow its head", p.Branch)
	case strings.TrimSpace(p.Message) == "" || len(p.Message) > maxMessage || strings.ContainsRune(p.Message, 0):
		return bad("the message of a commit is 1 to %d bytes of text", maxMessage)
	case len(p.Changes) == 0 || len(p.Changes) > maxChanges:
		return bad("a commit changes 1 to %d files, not %d", maxChanges, len(p.Changes))
	case total > maxPublished:
		return bad("the files have %d bytes together, more than %d", total, maxPublished)
	case p.Author.line() == "" || p.Committer.line() == "":
		return bad("a commit needs the name and the address of who made it")
	}
	return nil
}

// commit is the content of the commit's object.
func (p *Publication) commit(root, parent objects.ID) []byte {
	return fmt.Appendf(nil, "tree %s\nparent %s\nauthor %s\ncommitter %s\n\n%s\n",
		root, parent, p.Author.line(), p.Committer.line(), strings.TrimRight(p.Message, "\n"))
}

// line is a signature as commits have it; "" where a part is missing.
func (s Signature) line() string {
	clean := func(v string) string {
		v = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || strings.ContainsRune("<>", r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(v, ""))
		return strings.Trim(v, " .,:;\"'\\") // as Git does
	}
	name, mail := clean(s.Name), clean(s.Email)
	if name == "" || mail == "" || s.When.Unix() < 0 {
		return ""
	}
	return fmt.Sprintf("%s <%s> %d %s", name, mail, s.When.Unix(), s.When.Format("-0700"))
}
