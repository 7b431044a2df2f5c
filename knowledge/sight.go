package knowledge

import (
	"path"
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/catalog"
)

// maxSights is for how many kinds of callers is remembered what they see.
const maxSights = 32

// sights remembers which documents callers see, until a document or the
// catalog changes: to find that out takes longer than to search.
type sights struct {
	mu      sync.Mutex // guards what follows
	version int64      // of the library
	of      map[catalog.Sight]*sight
}

// sight is a set of documents, by their ids; nil are all.
type sight struct{ bits []uint64 }

func (s *sight) has(id int64) bool {
	return s == nil || id/64 < int64(len(s.bits)) && s.bits[id/64]>>(id%64)&1 == 1
}

func (s *sights) get(key catalog.Sight, version int64) *sight {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version != version {
		return nil
	}
	return s.of[key]
}

func (s *sights) put(key catalog.Sight, version int64, seen *sight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version > version {
		return
	}
	if s.version < version || len(s.of) >= maxSights {
		s.version, s.of = version, nil
	}
	if s.of == nil {
		s.of = map[catalog.Sight]*sight{}
	}
	s.of[key] = seen
}

// seen are the documents that the caller sees.
func (r *reading) seen() *sight {
	if r.All() {
		return nil
	}
	key, version := r.Sight(), r.library.version.Load()
	if s := r.sights.get(key, version); s != nil {
		return s
	}
	s := &sight{make([]uint64, r.library.last.Load()/64+1)}
	for _, c := range r.library.all() {
		if c.ID/64 < int64(len(s.bits)) && r.visible(c) {
			s.bits[c.ID/64] |= 1 << (c.ID % 64)
		}
	}
	r.sights.put(key, version, s)
	return s
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
