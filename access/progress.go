package access

import "context"

// Progress is how far an operation that takes long has come.
type Progress struct {
	// Done grows from report to report; Total is what it grows to, 0 if that
	// is not known. Their unit is the operation's own.
	Done, Total float64
	// Message says in a few words what is being done.
	Message string
}

type progressKey struct{}

// WithProgress gives a context in which tell gets the reports of an operation.
// It may be called from several goroutines.
func WithProgress(ctx context.Context, tell func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, tell)
}

// Report tells whoever asked for an operation how far it has come; where
// nobody wants to know it does nothing.
func Report(ctx context.Context, p Progress) {
	if tell, ok := ctx.Value(progressKey{}).(func(Progress)); ok {
		tell(p)
	}
}
