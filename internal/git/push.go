package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

const (
	// maxReport bounds what a server answers to a push, in bytes.
	maxReport = 1 << 20
	// maxWords bounds what is shown of what it says, in characters.
	maxWords = 300
)

// pushWire is one conversation with a server's git-receive-pack.
type pushWire interface {
	// advertise gives the refs and what the server is able to do.
	advertise(ctx context.Context) (*packp.AdvRefs, error)
	// send sends objects and the wish, and gives the answer.
	send(ctx context.Context, content *bytes.Buffer) (io.ReadCloser, error)
	// close ends the conversation.
	close()
}

// refusedError is what a server says that does not take a push.
type refusedError struct{ status, words string }

func (e *refusedError) Error() string {
	if e.words == "" {
		return e.status
	}
	return e.status + " (" + e.words + ")"
}

var errNoReport = errors.New("the server does not say what becomes of a push")

// update is a commit on its way to a branch.
type update struct {
	p       Publication
	id      objects.ID
	objects []made
}

// over makes the update in one conversation.
func (u *update) over(ctx context.Context, name string, w pushWire) error {
	refs, err := w.advertise(ctx)
	if err != nil {
		return err
	}
	if !able(refs, capability.ReportStatus) {
		return errNoReport
	}
	old, done, err := u.expected(refs, name)
	if err != nil || done {
		return err
	}
	content, err := u.request(refs, old)
	if err != nil {
		return err
	}
	answer, err := w.send(ctx, content)
	if err != nil {
		return err
	}
	defer answer.Close()
	return u.outcome(name, answer, able(refs, capability.Sideband64k))
}

// expected checks that the branches are where they should be; done tells that
// the commit is there already.
func (u *update) expected(refs *packp.AdvRefs, name string) (old plumbing.Hash, done bool, err error) {
	head := refs.References["refs/heads/"+u.p.Branch]
	if objects.ID(head) == u.id {
		return head, true, nil
	}
	base, given := u.p.BaseBranch, u.p.BaseBranch != ""
	if at := refs.References["refs/heads/"+base]; given && at.String() != u.p.Base {
		return head, false, moved(name, base, at)
	}
	if u.p.Expected != "" {
		old = plumbing.NewHash(u.p.Expected)
	}
	if head != old {
		return head, false, moved(name, u.p.Branch, head)
	}
	return old, false, nil
}

func moved(name, branch string, at plumbing.Hash) error {
	f := fault.New(fault.Conflict, "the branch %s of %s is at %.12s, where somebody else has put it", branch, name, at.String())
	if at.IsZero() {
		f = fault.New(fault.Conflict, "there is no branch %s in %s any more", branch, name)
	}
	return f.WithFix("Make the change again on what is there now.").Because(ErrMoved)
}

// request is what the server is sent: the wish and a pack.
func (u *update) request(refs *packp.AdvRefs, old plumbing.Hash) (*bytes.Buffer, error) {
	req := packp.NewReferenceUpdateRequest()
	req.Commands = []*packp.Command{{Name: plumbing.NewBranchReferenceName(u.p.Branch), Old: old, New: plumbing.Hash(u.id)}}
	for _, c := range []capability.Capability{capability.ReportStatus, capability.Sideband64k, capability.OFSDelta} {
		if able(refs, c) {
			if err := req.Capabilities.Set(c); err != nil {
				return nil, err
			}
		}
	}
	pack, err := u.pack()
	if err != nil {
		return nil, err
	}
	req.Packfile = io.NopCloser(pack)
	var content bytes.Buffer
	err = req.Encode(&content)
	return &content, err
}

// pack holds the objects, each whole.
func (u *update) pack() (*bytes.Buffer, error) {
	store := memory.NewStorage()
	ids := make([]plumbing.Hash, len(u.objects))
	for i, m := range u.objects {
		o := store.NewEncodedObject()
		o.SetType(plumbing.ObjectType(m.kind)) //nolint:gosec // the numbers are those of the pack format, in both
		w, err := o.Writer()
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(m.data); err != nil {
			return nil, err
		}
		if ids[i], err = store.SetEncodedObject(o); err != nil {
			return nil, err
		}
		if objects.ID(ids[i]) != m.id {
			return nil, fmt.Errorf("object %s has got the name %s", m.id, ids[i])
		}
	}
	var out bytes.Buffer
	_, err := packfile.NewEncoder(&out, store, false).Encode(ids, 0)
	return &out, err
}

// outcome reads what became of the push.
func (u *update) outcome(name string, answer io.Reader, multiplexed bool) error {
	words := &clipped{}
	limited := &budget{answer, maxReport}
	var report io.Reader = limited
	if multiplexed {
		d := sideband.NewDemuxer(sideband.Sideband64k, limited)
		d.Progress = words
		report = d
	}
	status := packp.NewReportStatus()
	if err := status.Decode(report); err != nil {
		return err
	}
	finish(answer)
	if status.UnpackStatus != "ok" {
		return &refusedError{status.UnpackStatus, words.String()}
	}
	for _, c := range status.CommandStatuses {
		switch {
		case c.ReferenceName != plumbing.NewBranchReferenceName(u.p.Branch):
			continue
		case c.Status == "ok":
			return nil
		case overtaken(c.Status):
			return fault.New(fault.Conflict, "the branch %s of %s was moved by somebody else at the same time", u.p.Branch, name).
				WithFix("Make the change again on what is there now.").Because(errors.Join(ErrMoved, &refusedError{c.Status, words.String()}))
		default:
			return &refusedError{c.Status, words.String()}
		}
	}
	return errNoReport
}

// overtaken tells whether a server's words mean that a branch is not where it
// was a moment before.
func overtaken(status string) bool {
	status = strings.ToLower(status)
	for _, words := range []string{"failed to update ref", "fetch first", "stale info", "already exists", "lock ref", "failed to lock", "incorrect old value", "reference conflict"} {
		if strings.Contains(status, words) {
			return true
		}
	}
	return false
}

// clipped keeps the beginning of what is written, as one line of plain text.
type clipped struct{ b []byte }

// Write keeps what there is room for.
func (c *clipped) Write(p []byte) (int, error) {
	c.b = append(c.b, p[:min(len(p), max(0, 4*maxWords-len(c.b)))]...)
	return len(p), nil
}

// String is the text.
func (c *clipped) String() string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(c.b), ""))
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > maxWords {
		return string(r[:maxWords]) + "…"
	}
	return string(r)
}
