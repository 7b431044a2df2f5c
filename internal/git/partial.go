package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

const (
	// maxWants bounds how many files are asked for in one request.
	maxWants = 1000
	// maxStops bounds how often a server is stopped because it sends a file
	// above the limit, before it is asked to leave such files out itself.
	maxStops = 32
)

var errOtherObjects = errors.New("the server sends other objects than it was asked for")

// fill makes files readable in a snapshot: afterwards each is there, or known
// to exceed the limit. What several callers want at a time is fetched together.
func (r *remote) fill(ctx context.Context, s *snapshot, ids []objects.ID) error {
	ids, err := s.lacking(ids)
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.flights.ask(ctx, ids, func(ctx context.Context, ids []objects.ID) error { return r.bring(ctx, s, ids) })
}

// bring fetches files. Servers that give none by their ids, or that hold too
// many large ones, are asked for the whole commit in the place of that.
func (r *remote) bring(ctx context.Context, s *snapshot, ids []objects.ID) error {
	ids, err := s.lacking(ids)
	if err != nil || len(ids) == 0 {
		return err
	}
	release, err := r.limit.acquire(ctx, r.at.url)
	if err != nil {
		return err
	}
	defer release()
	return r.within(ctx, "fetching files of", func(ctx context.Context) error {
		p := picking{r: r, s: s}
		var err error
		for part := range slices.Chunk(ids, maxWants) {
			if err = p.part(ctx, part); err != nil {
				break
			}
		}
		if errors.Is(err, errNoPick) {
			return r.complete(ctx, s)
		}
		return err
	})
}

// complete fetches all files of a snapshot's commit, save large ones where the
// server can leave them out, and has later commits fetched like that, too.
func (r *remote) complete(ctx context.Context, s *snapshot) error {
	path, err := s.newPack("pack-")
	if err != nil {
		return err
	}
	defer removePack(path)
	limits := objects.IndexLimits{Objects: r.cfg.Limits.Files + 16, BlobBytes: r.cfg.Limits.FileBytes}
	err = r.fetchPack(ctx, s.commit.id, path, r.room(s), limits, func(refs *packp.AdvRefs, want objects.ID) (*packp.UploadPackRequest, error) {
		return request(refs, want, objects.ID{}, r.blobLimit())
	})
	if err != nil {
		return err
	}
	r.whole.Store(true)
	return s.take(path, true)
}

// fetchPack asks for a commit in a conversation of its own, and writes the pack
// of the answer, of at most room bytes, and its index at path. ask makes the
// request of what the server is able to do and the commit's name there.
func (r *remote) fetchPack(ctx context.Context, id objects.ID, path string, room int64, limits objects.IndexLimits,
	ask func(refs *packp.AdvRefs, want objects.ID) (*packp.UploadPackRequest, error)) error {
	w, err := r.dial(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	refs, err := w.advertise(ctx)
	if err != nil {
		return err
	}
	want, err := r.want(refs, id)
	if err != nil {
		return err
	}
	req, err := ask(refs, want)
	if err != nil {
		return err
	}
	return r.takePack(ctx, w, req, path, room, limits)
}

// takePack sends a request and writes the pack of the answer, of at most
// room bytes, and its index at path.
func (r *remote) takePack(ctx context.Context, w wire, req *packp.UploadPackRequest, path string, room int64, limits objects.IndexLimits) error {
	answer, err := w.exchange(ctx, req)
	if err != nil {
		return err
	}
	defer answer.Close()
	pack, err := packOf(answer, req, room)
	if err != nil {
		return err
	}
	if err := savePack(path, pack); err != nil {
		return err
	}
	return objects.BuildIndex(ctx, path, nil, limits)
}

// blobLimit is the size from which on servers leave files out.
func (r *remote) blobLimit() uint64 {
	return uint64(r.cfg.Limits.FileBytes) + 1 //nolint:gosec // the limit is positive
}

// room is how many bytes a snapshot may still grow by.
func (r *remote) room(s *snapshot) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(r.cfg.Limits.DiskBytes-s.bytes, 0)
}

// dialPicker starts a conversation in which objects are asked for by ids.
func (r *remote) dialPicker(ctx context.Context) (picker, error) {
	if r.at.kind == overSSH {
		w, err := dialSSH(ctx, r.at, r.cfg.Credentials, uploadPack, true)
		if err != nil {
			if errors.Is(err, errNoPick) {
				r.limit.host(r.at.url).knows.Store(version0)
			}
			return nil, err // a nil *sshWire must not become a picker
		}
		return w, nil
	}
	w, err := r.dialHTTP()
	if err != nil {
		return nil, err
	}
	if base := r.base.Load(); base != nil {
		w.base = *base
		return w, nil
	}
	speaks, err := w.version2(ctx) // it tells of redirects, too
	if err == nil && !speaks {
		err = errNoPick
	}
	if err != nil {
		return nil, err
	}
	base := w.base
	r.base.Store(&base)
	return w, nil
}

// picking fetches files into a snapshot.
type picking struct {
	r     *remote
	s     *snapshot
	stops int
}

// part fetches some files with one request. Where one of them turns out to be
// too large, the server is stopped and each half asked for alone, so that the
// large one is found at the price of its first bytes.
func (p *picking) part(ctx context.Context, ids []objects.ID) error {
	err := p.request(ctx, ids)
	var large *objects.TooLargeError
	if !errors.As(err, &large) {
		return err
	}
	if len(ids) == 1 {
		p.s.tooLarge(ids)
		return nil
	}
	if p.stops++; p.stops > maxStops {
		return errNoPick
	}
	half := len(ids) / 2
	if err := p.part(ctx, ids[:half]); err != nil {
		return err
	}
	return p.part(ctx, ids[half:])
}

// request asks for files and adds what comes to the snapshot.
func (p *picking) request(ctx context.Context, ids []objects.ID) error {
	path, err := p.s.newPack("blobs-")
	if err != nil {
		return err
	}
	defer removePack(path)
	limits := objects.IndexLimits{Objects: int64(len(ids)), BlobBytes: p.r.cfg.Limits.FileBytes}
	if err := p.receive(ctx, path, ids, limits); err != nil {
		return err
	}
	if err := objects.BuildIndex(ctx, path, nil, limits); err != nil {
		return err
	}
	if err := p.s.take(path, false); err != nil {
		return err
	}
	if err := p.s.tidy(ctx, limits.BlobBytes); err != nil {
		return err
	}
	rest, err := p.s.lacking(ids)
	if err != nil || len(rest) == 0 {
		return err
	}
	// A difference whose result is too large has no name in the index.
	if leftOut, err := objects.LeftOut(path); err != nil || leftOut == 0 {
		return errors.Join(errOtherObjects, err)
	}
	p.s.tooLarge(rest)
	return nil
}

// receive saves the pack of files, as long as it is one.
func (p *picking) receive(ctx context.Context, path string, ids []objects.ID, limits objects.IndexLimits) error {
	w, err := p.r.dialPicker(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	answer, err := w.pick(ctx, ids)
	if err != nil {
		return err
	}
	defer answer.Close()
	// What does not compress takes a little more room than its size.
	each := limits.BlobBytes + limits.BlobBytes/1000 + 1<<10
	pack, err := packPicked(answer, min(p.r.room(p.s), int64(len(ids))*each+1<<10))
	if err != nil {
		return err
	}
	err = writeNew(path, func(f *os.File) error { return objects.CopyFiles(ctx, f, pack, limits) })
	var many *objects.TooManyError
	if errors.As(err, &many) {
		return errors.Join(errOtherObjects, errors.New(many.Error())) // it is not the repository that holds too many
	}
	return err
}

// removePack removes a pack that has not been taken over, and its index.
func removePack(path string) {
	_ = os.Remove(path) // mostly it has been
	_ = os.Remove(strings.TrimSuffix(path, ".pack") + ".idx")
}

// newPack gives a place for a pack that is on its way, beside those in use.
func (s *snapshot) newPack(kind string) (string, error) {
	f, err := os.CreateTemp(s.dir, kind+"*.pack")
	if err != nil {
		return "", diskError(s.dir, err)
	}
	path := f.Name()
	if err := errors.Join(f.Close(), os.Remove(path)); err != nil {
		return "", diskError(s.dir, err)
	}
	return path, nil
}

// take puts a pack into use; whole tells that it completes the snapshot.
func (s *snapshot) take(path string, whole bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(path); err != nil {
		return err
	}
	s.whole = s.whole || whole
	return s.measure()
}

// use puts a pack beside those in use, its index last: by that it is found.
func (s *snapshot) use(path string) error {
	for _, p := range []string{path, strings.TrimSuffix(path, ".pack") + ".idx"} {
		if err := os.Link(p, filepath.Join(s.packDir(), filepath.Base(p))); err != nil {
			return diskError(s.dir, err)
		}
	}
	return nil
}

// lacking are the files that have to be fetched.
func (s *snapshot) lacking(ids []objects.ID) ([]objects.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole {
		return nil, nil
	}
	var out []objects.ID
	asked := make(map[objects.ID]bool, len(ids))
	for _, id := range ids {
		if _, large := s.large[id]; !large && !asked[id] {
			asked[id] = true
			out = append(out, id)
		}
	}
	return s.db.Lacking(out)
}

func (s *snapshot) isWhole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole
}

// tooLarge notes that files exceed the limit.
func (s *snapshot) tooLarge(ids []objects.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.large == nil {
		s.large = map[objects.ID]struct{}{}
	}
	for _, id := range ids {
		s.large[id] = struct{}{}
	}
}

// tidy makes one pack of many small ones.
func (s *snapshot) tidy(ctx context.Context, limit int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.blobPacks) <= maxPacks {
		return nil
	}
	old := s.blobPacks
	path, err := s.newPack("blobs-")
	if err != nil {
		return err
	}
	defer removePack(path)
	if err := objects.Merge(ctx, path, old, objects.IndexLimits{BlobBytes: limit}); err != nil {
		return err
	}
	if err := s.use(path); err != nil {
		return err
	}
	for _, p := range old {
		// The index goes first: without it nobody looks for the pack.
		_ = os.Remove(strings.TrimSuffix(p, ".pack") + ".idx")
		_ = os.Remove(p)
	}
	return s.measure()
}
