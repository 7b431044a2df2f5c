package scrub

import "io"

// Writer hands on what is written to it, with Mask in place of values. However
// the text is cut into writes, what is handed on is the same. It holds back
// what may be the beginning of a value, and nothing else, so that a prompt
// appears at once. It is used by one goroutine.
type Writer struct {
	to    io.Writer
	dfa   *dfa
	state int32
	// held is what came and has not been handed on; quietAt is behind the last
	// byte of it after which nothing was begun.
	held    []byte
	quietAt int
	// spans are the values in held, in order and apart; masked tells that what
	// was handed on last is a mask.
	spans  []span
	masked bool
	trace  trace
	out    []byte
}

type span struct{ from, to int }

// NewWriter makes a Writer.
func (s *Set) NewWriter(to io.Writer) *Writer {
	return &Writer{to: to, dfa: newDFA(s), state: idle, trace: trace{set: s}}
}

// Write takes what a program wrote. Its error is that of the writer below.
func (w *Writer) Write(p []byte) (int, error) {
	from := len(w.held)
	w.held = append(w.held, p...)
	w.scan(from)
	upTo := w.quietAt
	if oldest := len(w.held) - w.dfa.set.longest; oldest > upTo {
		upTo = oldest // no value is that long
	}
	if err := w.release(upTo); err != nil {
		return 0, err
	}
	return len(p), nil
}

// scan looks for values from a place in held on.
func (w *Writer) scan(from int) {
	d, state, quietAt := w.dfa, w.state, w.quietAt
	next := d.next
	for i, c := range w.held[from:] {
		to := next[index(state, c)]
		if to == 0 {
			to = d.explore(state, c)
			next = d.next
		}
		state = to
		if state&(matched|quiet) == 0 {
			continue
		}
		if state&matched != 0 {
			w.mark(w.trace.start(w.held, quietAt, from+i+1), from+i+1)
		}
		if state&quiet != 0 {
			quietAt = from + i + 1
		}
	}
	w.state, w.quietAt = state, quietAt
}

// mark notes a value, as one with those that it overlaps or touches.
func (w *Writer) mark(from, to int) {
	from = max(from, to-w.dfa.set.longest) // before that all has been handed on, or could have been
	for n := len(w.spans); n > 0 && w.spans[n-1].to >= from; n-- {
		from = min(from, w.spans[n-1].from)
		w.spans = w.spans[:n-1]
	}
	w.spans = append(w.spans, span{from, to})
}

// Waiting tells whether something is held back that Idle would hand on.
func (w *Writer) Waiting() bool {
	return len(w.held) > 0 && w.state&telling == 0
}

// Idle is called when nothing has come for a while: a few bytes that are held
// back are handed on, for they tell too little of a value. If the rest of the
// value comes after all, that is masked.
func (w *Writer) Idle() error {
	if !w.Waiting() {
		return nil
	}
	return w.release(len(w.held))
}

// Close hands on what is held back, masked where it is the beginning of a
// value, and forgets all. The writer below stays open.
func (w *Writer) Close() error {
	if w.state&telling != 0 {
		w.mark(w.quietAt, len(w.held))
	}
	err := w.release(len(w.held))
	clear(w.held[:cap(w.held)])
	clear(w.out[:cap(w.out)])
	w.dfa.wipe()
	w.state = idle
	return err
}

// release hands on what is held up to a place.
func (w *Writer) release(upTo int) error {
	if upTo == 0 {
		return nil
	}
	if upTo > w.quietAt { // something has begun in what is let go
		w.trace.start(w.held, w.quietAt, len(w.held))
	}
	w.out = w.out[:0]
	at, kept := 0, w.spans[:0]
	for _, s := range w.spans {
		if s.from < upTo {
			w.literal(w.held[at:s.from])
			if !w.masked {
				w.out = append(w.out, Mask...)
				w.masked = true
			}
			at = min(s.to, upTo)
		}
		if s.to > upTo {
			kept = append(kept, span{max(s.from-upTo, 0), s.to - upTo})
		}
	}
	text := w.held[at:upTo]
	if len(w.out) > 0 || at > 0 {
		w.literal(text)
		text = w.out
	} else {
		w.masked = false
	}
	var err error
	if len(text) > 0 {
		_, err = w.to.Write(text)
	}
	w.spans = kept
	w.held = w.held[:copy(w.held, w.held[upTo:])]
	w.quietAt = max(w.quietAt-upTo, 0)
	w.trace.shift(upTo)
	return err
}

func (w *Writer) literal(text []byte) {
	if len(text) > 0 {
		w.out = append(w.out, text...)
		w.masked = false
	}
}
