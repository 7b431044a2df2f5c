package gitops

import "context"

// remembered are files of one commit that are read once each, for as long as one
// change is worked out.
type remembered struct {
	Files
	texts map[string]remembers[[]byte]
	lists map[string]remembers[[]string]
}

// remembers is what reading gave.
type remembers[T any] struct {
	value T
	err   error
}

// Read gives a file. See Files.
func (r *remembered) Read(ctx context.Context, path string) ([]byte, error) {
	return recalled(ctx, r.texts, path, r.Files.Read)
}

// List names the files in a folder. See Files.
func (r *remembered) List(ctx context.Context, dir string) ([]string, error) {
	return recalled(ctx, r.lists, dir, r.Files.List)
}

// recalled reads what was not read before.
func recalled[T any](ctx context.Context, known map[string]remembers[T], path string, read func(context.Context, string) (T, error)) (T, error) {
	got, ok := known[path]
	if !ok {
		got.value, got.err = read(ctx, path)
		known[path] = got
	}
	return got.value, got.err
}
