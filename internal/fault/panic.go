package fault

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// Panic is the cause of a fault that was a panic. Its text is for logs alone.
type Panic struct {
	Doing string // what was being worked on, as in "reading source x"
	Value any    // what panic was called with
	Stack []byte // of where it was called
}

// Error gives all that is known of the panic.
func (p *Panic) Error() string {
	return fmt.Sprintf("panic while %s: %v\n%s", cmp.Or(p.Doing, "doing its part"), p.Value, p.Stack)
}

// Recovered makes of what recover gave the cause to log and to pass on. A panic
// that was passed on from another goroutine keeps the stack it had there.
func Recovered(value any, doing string) *Panic {
	if inner, ok := value.(*Panic); ok {
		both := slices.DeleteFunc([]string{doing, inner.Doing}, func(s string) bool { return s == "" })
		return &Panic{Doing: strings.Join(both, ": "), Value: inner.Value, Stack: inner.Stack}
	}
	return &Panic{Doing: doing, Value: value, Stack: debug.Stack()}
}

// Catch, deferred, makes an internal fault of a panic. It is for the places at
// which one thing of many is worked on that comes from outside, such as a
// source, so that the others are gone on with.
func Catch(err *error, doing string, args ...any) {
	if p := recover(); p != nil {
		*err = internal(Recovered(p, fmt.Sprintf(doing, args...)))
	}
}
