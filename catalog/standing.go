package catalog

import (
	"time"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// FactLife is how long a fact or a document holds after its file was changed
// last, where that is known: two years.
const FactLife = 2 * 365 * 24 * time.Hour

// Failing is what an Ingestion may know of sources that cannot be read.
type Failing interface {
	// Failing tells whether the last attempt to read a source failed, so that
	// what is served is its last good state.
	Failing(source string) bool
}

// Dating is what an Ingestion may know of when files were changed last.
type Dating interface {
	// Changed is the last change of the content that a file of a source has;
	// false where that is not known for certain, or where the source has
	// another content of it by now.
	Changed(source, path, content string) (entity.LastChange, bool)
}

// ChangedAt is when a file of a source got the content that it has, zero while
// that is not known for certain.
func (s *Service) ChangedAt(source, path, content string) time.Time {
	p := s.ingestion.Load()
	if p == nil || content == "" {
		return time.Time{}
	}
	d, ok := (*p).(Dating)
	if !ok {
		return time.Time{}
	}
	last, _ := d.Changed(source, path, content)
	return last.At
}

// failing says that what is known of a source is its last good state, "" where
// the source can be read.
func (s *Service) failing(source string) string {
	p := s.ingestion.Load()
	if p == nil {
		return ""
	}
	f, ok := (*p).(Failing)
	if !ok || !f.Failing(source) {
		return ""
	}
	text := "its repository cannot be read now"
	if ev, ok := s.evidence(); ok {
		text += ", it was last read at " + ev.Verified(source).At.UTC().Format(time.RFC3339)
	}
	return text
}

// aged sets when a fact expires, by its file's age, and says so once it has.
func (f *Fact) aged(now time.Time) {
	if f.ChangedAt.IsZero() {
		return
	}
	end := f.ChangedAt.Add(FactLife)
	f.ExpiresAt = &end
	if f.Stale == "" && now.After(end) {
		f.Stale = "its file was not changed since " + f.ChangedAt.UTC().Format(time.DateOnly)
	}
}

// CommonStale is why many facts may no longer hold, "" where there is no such
// reason: what shows a brief says it once.
func (b *Brief) CommonStale() string {
	counts, all := map[string]int{}, 0
	best := ""
	for f := range b.facts {
		all++
		if f.Stale == "" {
			continue
		}
		counts[f.Stale]++
		if n := counts[f.Stale]; n > counts[best] || n == counts[best] && f.Stale < best {
			best = f.Stale
		}
	}
	if n := counts[best]; n > 2 || n == 2 && all <= 4 {
		return best
	}
	return ""
}
