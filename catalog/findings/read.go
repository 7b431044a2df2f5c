package findings

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/infer"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// The bounds of what is read of one source: a few kilobytes of Git may name one
// large file a hundred thousand times.
const (
	// MaxBytes is how many bytes of files are looked at. Those nearest to the
	// root come first; of the rest it is only known that they are there.
	MaxBytes = 32 << 20
	// leastBytes is what a file counts for, however small it is.
	leastBytes = 512
	// fetched is how many files are fetched in one go.
	fetched = 256
)

// beyond is what is said of a file for which nothing was left.
const beyond = "the files nearer to the root have 32 MiB already, which is as much as is looked at"

// read reads a revision's files into k; those that old has already are not read
// again. What is read depends on the revision alone and not on what was kept.
func read(ctx context.Context, v ingest.View, old, k *Kept) error {
	r := &round{v: v, old: old, k: k, left: MaxBytes, read: infer.Read}
	if err := r.all(ctx, wantedOf(v.Files)); err != nil {
		return err
	}
	r.read = infer.ReadScript
	there := func(at string) bool { return v.Files[at] != "" }
	for scripts, depth := 0, 0; depth < infer.ScriptDepth && scripts < infer.MaxScripts; depth++ {
		called := infer.Scripts(k.Readings, there)
		called = called[:min(len(called), infer.MaxScripts-scripts)]
		if len(called) == 0 {
			return nil
		}
		if err := r.all(ctx, called); err != nil {
			return err
		}
		scripts += len(called)
	}
	return nil
}

// round is the reading of some files of a revision.
type round struct {
	v      ingest.View
	old, k *Kept
	left   int // bytes that may still be looked at
	read   func(at string, data []byte) infer.Reading
}

func (r *round) all(ctx context.Context, wanted []string) error {
	for some := range slices.Chunk(wanted, fetched) {
		todo := slices.DeleteFunc(slices.Clone(some), func(at string) bool { return has(r.old, at, r.v.Files[at]) })
		if r.left > 0 {
			if err := ingest.Fetch(ctx, r.v.Tree, todo); err != nil {
				return err
			}
		}
		for _, at := range some {
			r.k.IDs[at] = r.v.Files[at]
			if r.left <= 0 {
				r.k.Readings[at] = infer.Reading{Unreadable: beyond}
				continue
			}
			if err := r.one(ctx, at); err != nil {
				return err
			}
			r.left -= max(r.k.Sizes[at], leastBytes)
		}
	}
	return nil
}

// wantedOf are the files that may say something, those nearest to the root
// first.
func wantedOf(files map[string]string) []string {
	var out []string
	for at := range files {
		if infer.Wanted(at) {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	return out
}

// has tells whether a file's content was looked at before.
func has(old *Kept, at, id string) bool {
	reading, read := old.Readings[at]
	return read && old.IDs[at] == id && reading.Unreadable != beyond
}

// one reads a file. One that is gone or too large says nothing.
func (r *round) one(ctx context.Context, at string) error {
	if has(r.old, at, r.v.Files[at]) {
		r.k.Readings[at], r.k.Sizes[at] = r.old.Readings[at], r.old.Sizes[at]
		return nil
	}
	data, err := r.v.Tree.Read(ctx, at)
	switch {
	case errors.Is(err, ingest.ErrTooLarge):
		r.k.Readings[at] = infer.Reading{Unreadable: "the file is too large"}
	case errors.Is(err, ingest.ErrNotFound):
	case err != nil:
		return err
	default:
		r.k.Readings[at], r.k.Sizes[at] = r.read(at, data), len(data)
	}
	return nil
}
