package ingest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

const (
	// maxLookBacks is how many sources are asked for their history at a time.
	maxLookBacks = 8
	// keepAtATime is how many answers are put in force at a time.
	keepAtATime = 1_000
	// firstRetry and lastRetry bound the pause after an answer that failed.
	firstRetry = time.Minute
	lastRetry  = time.Hour
)

// lookBacks has histories looked up in the background: for each host one
// source after the other, so that hosts do not wait for one another, and none
// before every source of the host has been read.
type lookBacks struct {
	mu      sync.Mutex
	waiting map[string][]*source // by host
	busy    map[string]bool      // the hosts that are being asked
	queued  map[*source]bool
	retry   map[*source]retry
	wake    chan struct{} // holds one
	places  chan struct{} // holds one for each source that is being asked
}

// retry is when a source that could not answer is asked again.
type retry struct {
	pause time.Duration
	at    time.Time
}

func newLookBacks() *lookBacks {
	return &lookBacks{waiting: map[string][]*source{}, busy: map[string]bool{}, queued: map[*source]bool{}, retry: map[*source]retry{},
		wake: make(chan struct{}, 1), places: make(chan struct{}, maxLookBacks)}
}

// hostOf is what sources have in common that share a host; all that are on
// disk share one.
func hostOf(s *source) string {
	host, _, _ := strings.Cut(entity.RepositoryKey(s.desc().URL), "/")
	return host
}

// wonder has the history of a source looked up if something of it is not
// known; it costs nothing where all is.
func (in *Ingester) wonder(s *source) {
	if !s.undated.Load() {
		return
	}
	l, host := in.lookBacks, hostOf(s)
	l.mu.Lock()
	if r := l.retry[s]; !l.queued[s] && !in.now().Before(r.at) {
		l.queued[s] = true
		l.waiting[host] = append(l.waiting[host], s)
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// renew has the history of a source that has been read looked up soon, also
// where that failed not long ago.
func (in *Ingester) renew(s *source) {
	s.undated.Store(true)
	in.lookBacks.mu.Lock()
	defer in.lookBacks.mu.Unlock()
	delete(in.lookBacks.retry, s)
}

// lookBack looks histories up until ctx ends.
func (in *Ingester) lookBack(ctx context.Context) {
	var hosts beside.All
	defer hosts.Wait()
	for {
		for _, host := range in.lookBacks.idle() {
			hosts.Go(func() { in.always(ctx, "looking back at "+host, func() { in.lookBackAt(ctx, host) }) })
		}
		select {
		case <-ctx.Done():
			return
		case <-in.lookBacks.wake:
		}
	}
}

// idle takes the hosts at which sources wait and nobody asks.
func (l *lookBacks) idle() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for host, waiting := range l.waiting {
		if len(waiting) > 0 && !l.busy[host] {
			l.busy[host] = true
			out = append(out, host)
		}
	}
	return out
}

// next takes the next source at a host; nil ends asking there.
func (l *lookBacks) next(host string) *source {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := l.waiting[host]
	if len(waiting) == 0 {
		delete(l.waiting, host)
		delete(l.busy, host)
		return nil
	}
	s := waiting[0]
	l.waiting[host] = waiting[1:]
	delete(l.queued, s)
	return s
}

// done notes how asking a source went.
func (l *lookBacks) done(s *source, now time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		delete(l.retry, s)
		return
	}
	pause := min(max(firstRetry, 2*l.retry[s].pause), lastRetry)
	l.retry[s] = retry{pause, now.Add(pause)}
}

// lookBackAt asks the sources of one host, one after the other.
func (in *Ingester) lookBackAt(ctx context.Context, host string) {
	var read *roster
	for ctx.Err() == nil {
		if read = in.readOnce(ctx, host, read); read == nil {
			return
		}
		s := in.lookBacks.next(host)
		if s == nil {
			return
		}
		leave, err := takeTurn(ctx, in.lookBacks.places, in.turnTime)
		if err != nil {
			return
		}
		err = in.date(ctx, s)
		leave()
		in.lookBacks.done(s, in.now(), err)
		if err != nil && ctx.Err() == nil {
			in.log.InfoContext(ctx, "history could not be read, it is tried again later", "source", s.desc().Name, "error", err)
		}
	}
}

// readOnce waits until every source at a host has been read or tried once:
// looking back must not hold that up. It gives the sources that there are, of
// which the caller may have waited for those given; nil when ctx has ended.
func (in *Ingester) readOnce(ctx context.Context, host string, waited *roster) *roster {
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		now := in.roster.Load()
		if now == waited || now.allReady(host) {
			return now
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}

func (r *roster) allReady(host string) bool {
	for _, s := range r.list {
		s.mu.RLock()
		ready := s.ready
		s.mu.RUnlock()
		if !ready && hostOf(s) == host {
			return false
		}
	}
	return true
}

// maxRounds bounds how often one source is asked in a row: what was unknown at
// the base is asked for again without it, and the source may move on meanwhile.
const maxRounds = 4

// date asks a source when its files were changed last, and puts the answer in
// force. An error leaves everything as it is.
func (in *Ingester) date(ctx context.Context, s *source) (err error) {
	defer fault.Catch(&err, "looking back at source %s", s.desc().Name)
	for range maxRounds {
		h, ok := s.from().(Historian)
		if !ok {
			s.undated.Store(false)
			return nil
		}
		q, files := s.wondersAbout()
		if len(files) == 0 {
			return nil
		}
		bounded, cancel := context.WithTimeout(ctx, in.timeout)
		a, err := h.LastChanges(bounded, q)
		cancel()
		if err != nil {
			return err
		}
		in.log.DebugContext(ctx, "history read", "source", s.desc().Name, "files", len(files), "known", len(a.Changed)+len(a.AsBase))
		if err := in.settle(ctx, s, q, files, a); err != nil {
			return err
		}
	}
	return nil
}

// wondersAbout is what has to be asked about the past of a source's files.
func (s *source) wondersAbout() (Question, map[string]*past) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, files := Question{Revision: s.meta.Revision}, map[string]*past{}
	doubted := s.meta.Dated != s.meta.Revision
	if doubted {
		q.Base = s.meta.Dated
	}
	for path, p := range s.pasts.files {
		if doubted || p.Commit == "" && !p.Sought {
			files[path] = p
			q.Paths = append(q.Paths, path)
		}
	}
	slices.Sort(q.Paths)
	s.undated.Store(len(files) > 0)
	return q, files
}

// settle puts an answer in force, a part at a time so that readings need not
// wait, unless the source has moved on otherwise than directly.
func (in *Ingester) settle(ctx context.Context, s *source, q Question, files map[string]*past, a Answer) error {
	for len(q.Paths) > 0 {
		n := min(keepAtATime, len(q.Paths))
		part := q.Paths[:n]
		q.Paths = q.Paths[n:]
		if err := s.lock(ctx); err != nil {
			return err
		}
		if delta, ok := s.believe(q, part, files, a); ok && in.source(s.desc().Name) == s {
			in.save(ctx, s, delta)
		}
		s.unlock()
	}
	return nil
}

// believe puts a part of an answer in force and tells what to keep of it; ok
// is false where nothing is to be kept now.
func (s *source) believe(q Question, part []string, files map[string]*past, a Answer) (_ Delta, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.pasts.line, q.Revision) {
		return Delta{}, false
	}
	d := Delta{Pasts: make(map[string]*Dated, len(part))}
	for _, path := range part {
		p := files[path]
		if s.pasts.files[path] != p {
			continue // its content has changed since
		}
		before := p.Dated
		if c, changed := a.Changed[path]; changed {
			p.known(c)
		} else if a.AsBase[path] {
			p.show()
		} else {
			p.Doubt()
			p.Dated = Dated{Sought: true}
		}
		if p.Dated != before { // else it is kept like that already
			d.Pasts[path] = s.dated(path)
		}
	}
	if len(q.Paths) == 0 {
		s.meta.Dated = s.meta.Revision
	}
	d.Meta = s.meta
	return d, !s.unsaved
}
