package git

import (
	"context"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"

	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

const (
	// maxAdvert bounds the list of a repository's refs in bytes.
	maxAdvert = 64 << 20
	// maxReplyHead bounds what comes before a pack in bytes.
	maxReplyHead = 1 << 20
)

// wire is one conversation with a server's git-upload-pack.
type wire interface {
	// advertise gives the refs and what the server is able to do.
	advertise(ctx context.Context) (*packp.AdvRefs, error)
	// exchange sends a request and gives the answer.
	exchange(ctx context.Context, req *packp.UploadPackRequest) (io.ReadCloser, error)
	// close ends the conversation.
	close()
}

var (
	errTooMuch  = errors.New("the server sends more than the limit")
	errManyRefs = errors.New("the list of refs exceeds the limit")
)

// budget reads up to a number of bytes and then fails. The number may be set
// anew as the conversation moves on.
type budget struct {
	r    io.Reader
	left int64
}

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// decodeAdvert reads the list of refs.
func decodeAdvert(r io.Reader) (*packp.AdvRefs, error) {
	refs := packp.NewAdvRefs()
	err := refs.Decode(&budget{r, maxAdvert})
	switch {
	case errors.Is(err, packp.ErrEmptyAdvRefs):
		return refs, nil // a repository without commits
	case errors.Is(err, errTooMuch):
		return nil, errManyRefs
	}
	return refs, err
}

// named is what a ref of the server names.
type named struct {
	// want is the object to ask for, commit the commit behind it; they differ
	// for annotated tags.
	want, commit objects.ID
}

// resolveAdvert finds a ref by its short or full name.
func resolveAdvert(refs *packp.AdvRefs, ref string) (named, bool) {
	for _, name := range candidates(ref) {
		id, ok := refs.References[name]
		if name == "HEAD" && refs.Head != nil {
			id, ok = *refs.Head, true
		}
		if !ok {
			continue
		}
		n := named{objects.ID(id), objects.ID(id)}
		if peeled, ok := refs.Peeled[name]; ok {
			n.commit = objects.ID(peeled)
		}
		return n, true
	}
	return named{}, false
}

// advertised tells whether any ref names an object.
func advertised(refs *packp.AdvRefs, id objects.ID) bool {
	for _, h := range refs.References {
		if objects.ID(h) == id {
			return true
		}
	}
	return refs.Head != nil && objects.ID(*refs.Head) == id
}

// able tells whether the server has a capability.
func able(refs *packp.AdvRefs, c capability.Capability) bool { return refs.Capabilities.Supports(c) }

// request makes a request for one commit without its history. have is a
// commit that the client has, without its history, or zero.
func request(refs *packp.AdvRefs, want, have objects.ID, blobLimit uint64) (*packp.UploadPackRequest, error) {
	req := packp.NewUploadPackRequest()
	req.Wants = []plumbing.Hash{plumbing.Hash(want)}
	if !able(refs, capability.Shallow) {
		return nil, errNoShallow
	}
	set := []capability.Capability{capability.Shallow, capability.OFSDelta, capability.NoProgress}
	switch {
	case able(refs, capability.Sideband64k):
		set = append(set, capability.Sideband64k)
	case able(refs, capability.Sideband):
		set = append(set, capability.Sideband)
	}
	if able(refs, capability.Filter) {
		set = append(set, capability.Filter)
		req.Filter = packp.FilterBlobLimit(blobLimit, packp.BlobLimitPrefixNone)
	}
	for _, c := range set {
		if c == capability.Shallow || able(refs, c) {
			if err := req.Capabilities.Set(c); err != nil {
				return nil, err
			}
		}
	}
	req.Depth = packp.DepthCommits(1)
	if !have.IsZero() {
		// Servers leave out what a commit has in common with one that is not
		// its parent only where they may send differences from it.
		if err := req.Capabilities.Set(capability.ThinPack); err != nil {
			return nil, err
		}
		req.Haves = []plumbing.Hash{plumbing.Hash(have)}
		req.Shallows = req.Haves
	}
	return req, nil
}

var errNoShallow = errors.New("the server cannot leave history out")

// encode writes a request to the end.
func encode(w io.Writer, req *packp.UploadPackRequest) error {
	if err := req.UploadRequest.Encode(w); err != nil {
		return err
	}
	if err := req.UploadHaves.Encode(w, false); err != nil {
		return err
	}
	_, err := io.WriteString(w, "0009done\n")
	return err
}

// packOf reads an answer up to the pack and gives the pack, of which at most
// limit bytes can be read.
func packOf(answer io.ReadCloser, req *packp.UploadPackRequest, limit int64) (io.Reader, error) {
	allowance := &budget{answer, maxReplyHead}
	reply := packp.NewUploadPackResponse(req)
	if err := reply.Decode(io.NopCloser(allowance)); err != nil {
		return nil, err
	}
	// Packets of at most 65,520 bytes each carry at least something.
	allowance.left = limit + limit/8 + maxReplyHead
	var pack io.Reader = reply
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, reply)
	case req.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, reply)
	}
	return &budget{finishing{pack, answer}, limit}, nil
}
