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
	wanted, left := wantedOf(v.Files), MaxBytes
	for len(wanted) > 0 {
		some := wanted[:min(len(wanted), fetched)]
		wanted = wanted[len(some):]
		todo := slices.DeleteFunc(slices.Clone(some), func(at string) bool { return has(old, at, v.Files[at]) })
		if left > 0 {
			if err := ingest.Fetch(ctx, v.Tree, todo); err != nil {
				return err
			}
		}
		for _, at := range some {
			k.IDs[at] = v.Files[at]
			if left <= 0 {
				k.Readings[at] = infer.Reading{Unreadable: beyond}
				continue
			}
			if err := readOne(ctx, v, old, k, at); err != nil {
				return err
			}
			left -= max(k.Sizes[at], leastBytes)
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
	return old.IDs[at] == id && old.Readings[at].Unreadable != beyond
}

// readOne reads a file into k. One that is gone or too large says nothing.
func readOne(ctx context.Context, v ingest.View, old, k *Kept, at string) error {
	if has(old, at, v.Files[at]) {
		k.Readings[at], k.Sizes[at] = old.Readings[at], old.Sizes[at]
		return nil
	}
	data, err := v.Tree.Read(ctx, at)
	switch {
	case errors.Is(err, ingest.ErrTooLarge):
		k.Readings[at] = infer.Reading{Unreadable: "the file is too large"}
	case errors.Is(err, ingest.ErrNotFound):
	case err != nil:
		return err
	default:
		k.Readings[at], k.Sizes[at] = infer.Read(at, data), len(data)
	}
	return nil
}
