package front

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Bounds of streams that clients listen to, and of what they subscribe to.
const (
	maxStreams       = 16    // of one caller
	maxAllStreams    = 1_000 // of all
	maxSubscriptions = 50    // resources of one session or stream
	// settle is how long changes are collected before they are told.
	settle = 250 * time.Millisecond
	// doubt is how long before its end a stream may have lost its client.
	doubt = 10 * time.Second
)

// Room is what subscriptions are about.
type Room interface {
	// Print is a mark of a resource as a caller sees it, which differs when the
	// resource does; an error is why they do not see it.
	Print(ctx context.Context, who access.Caller, uri string) (string, error)
	// Watch tells a caller of the changes of a time before, and of those that come
	// after it has returned, until ctx ends; then the channel is closed.
	Watch(ctx context.Context, who access.Caller, before time.Duration) <-chan Changes
}

// Changes are changes that a caller may know of.
type Changes struct {
	// Touches tells whether a resource may have changed.
	Touches func(uri string) bool
	// Listed tells that the list of resources may have changed.
	Listed bool
}

// streams counts the open streams by caller.
type streams struct {
	mu   sync.Mutex
	open map[string]int
	all  int
}

// enter takes a place for a stream of a caller.
func (s *streams) enter(owner string) (leave func(), flt *fault.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[owner] >= maxStreams || s.all >= maxAllStreams {
		return nil, fault.New(fault.QuotaExceeded, "too many streams are listened to").After(10 * time.Second).
			WithFix("Close some, and subscribe to several resources in one.")
	}
	s.open[owner]++
	s.all++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.open[owner]--; s.open[owner] == 0 {
			delete(s.open, owner)
		}
	}, nil
}

// stream is what a session listens to: what the server says of its own accord.
func (f *Front) stream(w http.ResponseWriter, r *http.Request, req *Request) {
	if !takesEvents(r) {
		refuse(w, req, http.StatusNotAcceptable, fault.New(fault.Invalid, "the stream is of type text/event-stream, which is not accepted").WithFix("Send Accept: text/event-stream."))
		return
	}
	leave, flt := f.streams.enter(req.session.owner)
	if flt != nil {
		refuse(w, req, http.StatusTooManyRequests, flt)
		return
	}
	defer leave()
	ctx, stop := f.whileHeld(r.Context(), r, req.Who)
	defer stop()
	done, ok := f.sessions.listen(req.session, stop)
	if !ok {
		refuse(w, req, http.StatusNotFound, fault.New(fault.NotFound, "the session has ended").WithFix("Send initialize to open one."))
		return
	}
	defer done()
	out := newAnswer(w, f, req, r)
	defer out.close()
	changes := f.cfg.Room.Watch(ctx, req.Who, req.session.unheard()) // before the client sees that it is heard
	out.open()
	f.follow(ctx, changes, req.Who, &req.session.subs, true, func(method string, params map[string]any) error {
		return out.send(Notification(method, params))
	})
}

// Notification is a message that wants no answer.
func Notification(method string, params map[string]any) any {
	return struct {
		JSONRPC string         `json:"jsonrpc"`
		Method  string         `json:"method"`
		Params  map[string]any `json:"params,omitempty"`
	}{"2.0", method, params}
}

// Listen tells the client of changes of resources, and of their list, until
// ctx ends; it begins once the library has acknowledged the request. It gives
// the resources that the caller may see: others are not subscribed to.
func (req *Request) Listen(ctx context.Context, uris []string, listed bool) ([]string, error) {
	if len(uris) > maxSubscriptions {
		return nil, req.Noted(tooMany())
	}
	subs := &subscriptions{}
	f, out := req.answer.front, req.answer
	kept := slices.DeleteFunc(slices.Clone(uris), func(uri string) bool { return subs.add(ctx, f.cfg.Room, req.Who, uri) != nil })
	changes := f.cfg.Room.Watch(ctx, req.Who, 0)
	req.listening.Go(func() {
		select {
		case <-out.begun:
		case <-ctx.Done():
			return
		}
		beside.Logged(ctx, f.cfg.Logger, "telling of changes of resources in MCP", func() {
			f.follow(ctx, changes, req.Who, subs, listed, func(method string, params map[string]any) error {
				meta := map[string]any{"io.modelcontextprotocol/subscriptionId": req.id}
				if params == nil {
					params = map[string]any{}
				}
				params["_meta"] = meta
				return out.send(Notification(method, params))
			})
		})
	})
	return kept, nil
}

// follow tells of changes until ctx ends or there is nobody to tell.
func (f *Front) follow(ctx context.Context, in <-chan Changes, who access.Caller, subs *subscriptions, listed bool, tell func(method string, params map[string]any) error) {
	var untold []string
	defer func() { subs.left(untold) }()
	c := Changes{Touches: func(string) bool { return true }} // while nobody listened
	for first := true; ctx.Err() == nil; first = false {
		untold = subs.changed(ctx, f.cfg.Room, who, c.Touches, first)
		for len(untold) > 0 {
			if tell("notifications/resources/updated", map[string]any{"uri": untold[0]}) != nil {
				return
			}
			untold = untold[1:]
		}
		if c.Listed && listed && tell("notifications/resources/list_changed", nil) != nil {
			return
		}
		var more bool
		if c, more = collect(ctx, in); !more {
			return
		}
	}
}

// collect waits for a change, and for others that follow it closely.
func collect(ctx context.Context, in <-chan Changes) (all Changes, more bool) {
	var touches []func(string) bool
	var settled <-chan time.Time
	all.Touches = func(uri string) bool {
		return slices.ContainsFunc(touches, func(t func(string) bool) bool { return t(uri) })
	}
	for {
		select {
		case c, ok := <-in:
			if !ok {
				return all, false
			}
			touches, all.Listed = append(touches, c.Touches), all.Listed || c.Listed
			if settled == nil {
				settled = time.After(settle)
			}
		case <-settled:
			return all, true
		case <-ctx.Done():
			return all, false
		}
	}
}

// subscriptions are the resources of which a client wants to know when they
// change.
type subscriptions struct {
	mu     sync.Mutex
	prints map[string]printed
	// ended is when a stream ended that told of them, zero while none has.
	ended time.Time
}

// printed is what a resource was when the client was told last, and when that
// was; zero where it asked itself.
type printed struct {
	mark string
	told time.Time
}

// unread is the print of a resource that is being read for the first time.
const unread = "\x00"

// gone is the print of a resource that is not there any more.
const gone = ""

func tooMany() *fault.Error {
	return fault.New(fault.QuotaExceeded, "more than %d resources are subscribed to", maxSubscriptions).WithFix("Unsubscribe from some, or wait for the list of resources to change.")
}

// add subscribes to a resource that the caller may see.
func (s *subscriptions) add(ctx context.Context, room Room, who access.Caller, uri string) *fault.Error {
	s.mu.Lock()
	if _, there := s.prints[uri]; !there && len(s.prints) >= maxSubscriptions {
		s.mu.Unlock()
		return tooMany()
	}
	if s.prints == nil {
		s.prints = map[string]printed{}
	}
	s.prints[uri] = printed{mark: unread} // before it is read, so that no change falls between
	s.mu.Unlock()
	mark, err := room.Print(ctx, who, uri)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.prints, uri)
		return fault.From(err)
	}
	if _, there := s.prints[uri]; there {
		s.prints[uri] = printed{mark: mark}
	}
	return nil
}

func (s *subscriptions) remove(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.prints, uri)
}

// left notes that a stream has ended, and what it could not tell.
func (s *subscriptions) left(untold []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = time.Now()
	for _, uri := range untold {
		if at, there := s.prints[uri]; there {
			s.prints[uri] = printed{at.mark, s.ended}
		}
	}
}

// changed gives the resources that are otherwise than the client knows. A stream
// that begins gives those again, too, of which the one before may have told
// nobody any more.
func (s *subscriptions) changed(ctx context.Context, room Room, who access.Caller, touches func(string) bool, begins bool) []string {
	s.mu.Lock()
	known := maps.Clone(s.prints)
	s.mu.Unlock()
	var out []string
	for uri, before := range known {
		if before.mark == unread || !touches(uri) {
			continue
		}
		now, err := room.Print(ctx, who, uri)
		if err != nil {
			now = gone
		}
		s.mu.Lock()
		at, there := s.prints[uri]
		if there && (at == before && at.mark != now || begins && s.doubtful(at)) {
			s.prints[uri] = printed{now, time.Now()}
			out = append(out, uri)
		}
		s.mu.Unlock()
	}
	slices.Sort(out)
	return out
}

// unheard is the time before now of which the client may have heard nothing:
// from shortly before its last stream ended, or from the session's beginning.
func (s *session) unheard() time.Duration {
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	if s.subs.ended.IsZero() {
		return time.Since(s.began)
	}
	return time.Since(s.subs.ended) + doubt
}

// doubtful tells whether a client may not have heard what it was told. It is
// called under the lock.
func (s *subscriptions) doubtful(at printed) bool {
	return !at.told.IsZero() && at.told.After(s.ended.Add(-doubt))
}

// subscribe answers for the library, which keeps no subscriptions: it tells
// whether the request is refused.
func (f *Front) subscribe(w http.ResponseWriter, r *http.Request, req *Request) (refused bool) {
	if req.Modern || req.Method != "resources/subscribe" && req.Method != "resources/unsubscribe" {
		return false
	}
	var flt *fault.Error
	switch {
	case req.session == nil:
		flt = fault.New(fault.FailedPrecondition, "without a session there is no stream to tell of changes on").WithFix("Send initialize to open a session, then GET the stream.")
	case req.Method == "resources/unsubscribe":
		req.session.subs.remove(req.URI)
	case req.URI != "":
		flt = req.session.subs.add(r.Context(), f.cfg.Room, req.Who, req.URI)
	}
	if flt == nil {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(req.rpc(req.CodeOf(flt), flt)) // a client that has gone needs no answer
	return true
}
