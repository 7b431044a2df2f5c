package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// chunk is how much of an answer is collected before it is sent, in bytes. An
// answer that fits is sent with its length.
const chunk = 64 << 10

// sink sends an answer, in parts where it is long, so that a page of the
// whole catalog takes no memory of its own.
type sink struct {
	w      http.ResponseWriter
	status int
	b      []byte
	sent   bool
}

// flush sends what is collected if it is a chunk.
func (s *sink) flush() {
	if len(s.b) >= chunk {
		s.send()
	}
}

func (s *sink) send() {
	if !s.sent {
		s.head()
	}
	_, _ = s.w.Write(s.b) // a client that has gone needs no answer
	s.b = s.b[:0]
}

func (s *sink) head() {
	s.sent = true
	s.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	s.w.WriteHeader(s.status)
}

// finish sends the rest.
func (s *sink) finish() {
	if !s.sent {
		s.w.Header().Set("Content-Length", strconv.Itoa(len(s.b)))
	}
	s.send()
}

// put writes an operation's answer as JSON. Entities carry their JSON with
// them, which is copied and not made anew.
func (s *sink) put(v any) error {
	switch v := v.(type) {
	case *catalog.Entity:
		s.entity(v)
	case []*catalog.Entity:
		s.entities(v)
	case *catalog.EntityBatch:
		s.text(`{"items":`)
		s.entities(v.Items)
		s.text(`}`)
	case *catalog.EntityPage:
		return s.page(v)
	case *catalog.Ancestry:
		s.ancestry(v)
	default:
		enc, err := marshal(v)
		s.b = append(s.b, enc...)
		return err
	}
	return nil
}

// marshal writes JSON without escaping what is harmless in it.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func (s *sink) text(t string) { s.b = append(s.b, t...) }

// entity writes an entity, null where there is none.
func (s *sink) entity(e *catalog.Entity) {
	if e == nil {
		s.text("null")
		return
	}
	s.b = e.AppendJSON(s.b)
}

func (s *sink) entities(es []*catalog.Entity) {
	s.text("[")
	for i, e := range es {
		if i > 0 {
			s.text(",")
		}
		s.entity(e)
		s.flush()
	}
	s.text("]")
}

func (s *sink) page(p *catalog.EntityPage) error {
	rest, err := marshal(struct {
		TotalItems int              `json:"totalItems"`
		PageInfo   catalog.PageInfo `json:"pageInfo"`
	}{p.TotalItems, p.PageInfo})
	if err != nil {
		return err
	}
	s.text(`{"items":`)
	s.entities(p.Items)
	s.text(",")
	s.b = append(s.b, rest[1:]...)
	return nil
}

func (s *sink) ancestry(a *catalog.Ancestry) {
	s.text(`{"rootEntityRef":`)
	s.b = entity.AppendString(s.b, a.RootEntityRef)
	s.text(`,"items":[`)
	for i, it := range a.Items {
		if i > 0 {
			s.text(",")
		}
		s.text(`{"entity":`)
		s.entity(it.Entity)
		s.text(`,"parentEntityRefs":[`)
		for j, p := range it.ParentEntityRefs {
			if j > 0 {
				s.text(",")
			}
			s.b = entity.AppendString(s.b, p)
		}
		s.text("]}")
		s.flush()
	}
	s.text("]}")
}
