package knowledge

import (
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/catalog"
)

// maxSights is for how many kinds of callers is remembered what they see.
const maxSights = 32

// sights remembers which documents callers see, until the catalog changes or
// a source becomes another repository: to find that out for every document
// takes longer than to search.
type sights struct {
	mu   sync.Mutex // guards what follows
	at   int64      // of the library's places
	of   map[catalog.Sight]*sight
	room int64 // for so many ids
}

// sight is what is known of which documents are seen, by their ids: for each
// whether that is known, and whether it is so.
type sight struct{ known, seen []atomic.Uint64 }

// has tells whether a document is seen; look finds it out.
func (s *sight) has(id int64, look func() bool) bool {
	at, bit := id/64, uint64(1)<<(id%64)
	if at >= int64(len(s.known)) {
		return look()
	}
	if s.known[at].Load()&bit != 0 {
		return s.seen[at].Load()&bit != 0
	}
	is := look()
	if is {
		s.seen[at].Or(bit)
	}
	s.known[at].Or(bit)
	return is
}

// get gives what is known of what some callers see while sources are where they
// were at a time; there is room for ids up to last.
func (s *sights) get(key catalog.Sight, at, last int64) *sight {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at > at {
		return &sight{} // the caller knows an earlier time
	}
	if s.at != at || len(s.of) >= maxSights && s.of[key] == nil || last >= s.room {
		s.at, s.of, s.room = at, map[catalog.Sight]*sight{}, last+last/4+1024
	}
	if s.of[key] == nil {
		n := s.room/64 + 1
		s.of[key] = &sight{make([]atomic.Uint64, n), make([]atomic.Uint64, n)}
	}
	return s.of[key]
}

// sees tells whether the caller sees a document.
func (r *reading) sees(c *Card) bool {
	if r.All() {
		return true
	}
	if r.seen == nil {
		r.seen = r.sights.get(r.Sight(), r.at, r.library.last.Load())
	}
	return r.seen.has(c.ID, func() bool { return r.visible(c) })
}

// folderOf is the folder of a file, "" for the root.
func folderOf(file string) string {
	if dir := path.Dir(file); dir != "." && dir != "/" {
		return dir
	}
	return ""
}

// under tells whether a folder is another one or below it.
func under(dir, top string) bool {
	return top == "" || dir == top || strings.HasPrefix(dir, top+"/")
}
