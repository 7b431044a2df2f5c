package gitops

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// edited is what an edit came to.
type edited struct {
	restored, removed []string
	images            []PlannedImage
	// was tells the folder on the base apart from others.
	was string
	// bases are files elsewhere that the environment is made of and that have
	// changed since.
	bases  []string
	rivals []Record
	// modes are files that may be run where they may not have been, or the other
	// way round.
	modes []string
}

// edit makes the files of the environment's folder what they were. Their bytes
// come from Git, and nothing looks into them.
func (b *restoring) edit(ctx context.Context, base Files) ([]File, error) {
	b.edited = edited{}
	now, err := base.Below(ctx, b.at.Dir)
	if err != nil {
		return nil, err
	}
	was, err := b.past.Below(ctx, b.at.Dir)
	if err != nil {
		return nil, err
	}
	if len(was) == 0 {
		return nil, fault.New(fault.FailedPrecondition, "there was no %s at %s, which %s of %s is described by now", orRoot(b.at.Dir), short(b.commit), b.env, b.ref).
			WithFix("Propose the earlier values with propose_change.")
	}
	sum := sha256.New()
	for _, e := range now {
		fmt.Fprintf(sum, "%q %s %t\n", e.Path, e.ID, e.Executable)
	}
	b.was = hex.EncodeToString(sum.Sum(nil)[:16])
	files, err := b.differing(ctx, base, now, was)
	if err != nil {
		return nil, err
	}
	if b.bases, err = b.elsewhere(ctx, base); err != nil {
		return nil, err
	}
	return files, b.meanwhile(ctx)
}

// differing are the files that are to be restored and removed.
func (b *restoring) differing(ctx context.Context, base Files, now, was []Entry) ([]File, error) {
	var out []File
	have := map[string]Entry{}
	for _, e := range now {
		have[e.Path] = e
	}
	for _, e := range was {
		old, there := have[e.Path]
		delete(have, e.Path)
		if there && old.ID == e.ID && old.Odd == e.Odd {
			if old.Executable != e.Executable {
				b.modes = append(b.modes, e.Path)
			}
			continue
		}
		if e.Odd || old.Odd {
			return nil, b.byHand(e.Path, "is no file that can be restored by its bytes: a link, a submodule, or of a name that is no UTF-8")
		}
		f, err := b.restore(ctx, base, e, there)
		if err != nil {
			return nil, err
		}
		out, b.restored = append(out, f), append(b.restored, e.Path)
	}
	for _, e := range now {
		if _, left := have[e.Path]; !left {
			continue
		}
		if e.Odd {
			return nil, b.byHand(e.Path, "is no file that can be removed by its path: a link, a submodule, or of a name that is no UTF-8")
		}
		out, b.removed = append(out, File{Path: e.Path, Delete: true}), append(b.removed, e.Path)
	}
	if len(out) > maxFiles {
		return nil, b.byHand(b.at.Dir, fmt.Sprintf("differs in %d files, more than %d", len(out), maxFiles))
	}
	slices.SortFunc(b.images, func(x, y PlannedImage) int {
		return cmp.Or(strings.Compare(x.File, y.File), strings.Compare(x.Path, y.Path))
	})
	return out, nil
}

// restore is a file as it was, and notes the images in it.
func (b *restoring) restore(ctx context.Context, base Files, e Entry, there bool) (File, error) {
	data, err := b.past.Read(ctx, e.Path)
	if err != nil {
		if fault.CodeOf(err) == fault.FailedPrecondition {
			err = b.byHand(e.Path, "is too large to be proposed").Because(err)
		}
		return File{}, err
	}
	var old []byte
	if there {
		if old, err = base.Read(ctx, e.Path); err != nil {
			if fault.CodeOf(err) == fault.FailedPrecondition {
				err = b.byHand(e.Path, "is too large by now to be compared").Because(err)
			}
			return File{}, err
		}
	}
	if isYAML(e.Path) {
		b.images = append(b.images, changedImages(e.Path, old, data, nil)...)
	}
	return File{Path: e.Path, Data: data, Executable: e.Executable}, nil
}

// byHand refuses what only people can restore.
func (b *restoring) byHand(file, why string) *fault.Error {
	return fault.New(fault.FailedPrecondition, "%s %s", clip(strings.ToValidUTF8(orRoot(file), "�"), 200), why).
		WithFix("Restore it by hand: git checkout %s -- %s", b.commit, clip(strings.ToValidUTF8(cmp.Or(b.at.Dir, "."), "�"), 200))
}

// elsewhere are the files outside the folder that its kustomization is made of,
// and that are others now than they were. Other environments may share them, so
// they are left alone.
func (b *restoring) elsewhere(ctx context.Context, base Files) (out []string, err error) {
	was, err := outside(ctx, b.past, b.at.Dir)
	if err != nil {
		return nil, err
	}
	now, err := outside(ctx, base, b.at.Dir)
	if err != nil {
		return nil, err
	}
	for file, id := range was {
		if now[file] != id {
			out = append(out, file)
		}
		delete(now, file)
	}
	for file := range now {
		out = append(out, file)
	}
	slices.Sort(out)
	return out, nil
}

// outside are the files beyond a folder that kustomizations in it lead to, by
// path, with what tells their contents apart. What is no path in the repository
// is not followed.
func outside(ctx context.Context, files Files, dir string) (map[string]string, error) {
	out, seen := map[string]string{}, map[string]bool{}
	todo := []string{dir}
	for len(todo) > 0 && len(seen) < maxBases {
		at := todo[0]
		todo = todo[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		found, err := files.Below(ctx, at)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if !inside(e.Path, dir) {
				out[e.Path] = e.ID
			}
			if e.Odd || !isKustomization(e.Path) || seen[e.Path] {
				continue
			}
			seen[e.Path] = true
			text, err := files.Read(ctx, e.Path)
			if err != nil {
				continue // it is too large to be one
			}
			for _, of := range madeOf(e.Path, text) {
				if to, err := below("", path.Join(path.Dir(e.Path), of)); err == nil && !strings.Contains(of, "://") && !inside(to, dir) && to != "" {
					todo = append(todo, to)
				}
			}
		}
	}
	return out, nil
}

// inside tells whether a path is a folder, or is below it.
func inside(p, dir string) bool {
	return dir == "" || p == dir || strings.HasPrefix(p, dir+"/")
}
