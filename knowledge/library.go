package knowledge

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// shelf is what is known of one source. It is never changed.
type shelf struct {
	state State
	key   string           // of its repository
	cards map[string]*Card // by path
	// folders are those of the cards, by name; filed are the cards of each, and
	// named those that name services.
	folders map[string]*folder
	filed   map[*folder][]*Card
	named   []*Card
}

func newShelf(s State) *shelf {
	return &shelf{state: s, key: entity.RepositoryKey(s.URL), cards: map[string]*Card{}, folders: map[string]*folder{}, filed: map[*folder][]*Card{}}
}

// add puts a card on a shelf that nobody reads yet. One that was on another
// before stays as it is.
func (s *shelf) add(c *Card) {
	s.cards[c.Path] = c
	dir := folderOf(c.Path)
	if c.folder == nil {
		for _, name := range c.AppliesTo {
			c.refs = append(c.refs, serviceRef(name))
		}
	}
	known := s.folders[dir]
	switch {
	case c.folder != nil:
		s.folders[dir] = c.folder
	case known != nil:
		c.folder = known
	default:
		c.folder = &folder{c.Source, dir}
		s.folders[dir] = c.folder
	}
	s.filed[c.folder] = append(s.filed[c.folder], c)
	if len(c.AppliesTo) > 0 {
		s.named = append(s.named, c)
	}
}

// library is the cards of all documents, in memory.
type library struct {
	mu      sync.RWMutex // guards what follows
	shelves map[string]*shelf
	cards   map[int64]*Card
	alerts  map[string][]*Card
	last    atomic.Int64 // the highest id ever given
	places  atomic.Int64 // counts changes of where sources are
}

func newLibrary() *library {
	return &library{shelves: map[string]*shelf{}, cards: map[int64]*Card{}, alerts: map[string][]*Card{}}
}

func (l *library) id() int64 { return l.last.Add(1) }

func (l *library) shelf(source string) *shelf {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.shelves[source]
}

func (l *library) card(id int64) *Card {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.cards[id]
}

// at finds a document by its place.
func (l *library) at(source, at string) *Card {
	if s := l.shelf(source); s != nil {
		return s.cards[at]
	}
	return nil
}

// about are the documents about an alert, by its key.
func (l *library) about(alert string) []*Card {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.Clone(l.alerts[alert])
}

// of are the shelves of the sources that a test picks.
func (l *library) of(want func(source string, s *shelf) bool) []*shelf {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var out []*shelf
	for name, s := range l.shelves {
		if want(name, s) {
			out = append(out, s)
		}
	}
	return out
}

// put sets a shelf in place of an earlier one; nil takes it away.
func (l *library) put(source string, next *shelf) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.shelves[source]; old != nil {
		if next == nil || next.key != old.key {
			l.places.Add(1)
		}
		for at, c := range old.cards {
			if next == nil || next.cards[at] != c {
				l.remove(c)
			}
		}
	}
	if next == nil {
		delete(l.shelves, source)
		return
	}
	l.shelves[source] = next
	for _, c := range next.cards {
		if l.cards[c.ID] != nil {
			continue
		}
		l.cards[c.ID] = c
		for _, a := range c.Alerts {
			l.alerts[a] = append(l.alerts[a], c)
		}
	}
}

func (l *library) remove(c *Card) {
	delete(l.cards, c.ID)
	for _, a := range c.Alerts {
		rest := slices.DeleteFunc(l.alerts[a], func(o *Card) bool { return o == c })
		if l.alerts[a] = rest; len(rest) == 0 {
			delete(l.alerts, a)
		}
	}
}

// size is how many documents there are.
func (l *library) size() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.cards)
}
