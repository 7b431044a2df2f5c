package fts

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
)

// where is in which parts of a document a word is.
type where uint8

const (
	inHeadings where = 1 << iota
	inNames          // or the title
)

// value is what BM25 gives for a word that is there, if the text has it twice.
func (w where) value() float32 {
	switch {
	case w&inNames != 0:
		return 1.9
	case w&inHeadings != 0:
		return 1.6
	default:
		return 1.3
	}
}

// postings are the documents that have a word, by their ids in order. They are
// never changed.
type postings struct {
	ids   []uint32
	where []where
}

// with are the documents of both.
func (p *postings) with(o *postings) *postings {
	if o == nil || len(o.ids) == 0 {
		return p
	}
	out := &postings{ids: make([]uint32, 0, len(p.ids)+len(o.ids)), where: make([]where, 0, len(p.ids)+len(o.ids))}
	for i, j := 0, 0; i < len(p.ids) || j < len(o.ids); {
		switch {
		case j == len(o.ids) || i < len(p.ids) && p.ids[i] < o.ids[j]:
			out.ids, out.where = append(out.ids, p.ids[i]), append(out.where, p.where[i])
			i++
		default:
			if i < len(p.ids) && p.ids[i] == o.ids[j] {
				i++
			}
			out.ids, out.where = append(out.ids, o.ids[j]), append(out.where, o.where[j])
			j++
		}
	}
	return out
}

// without are the documents that are not gone.
func (p *postings) without(gone []int64) *postings {
	var at []int
	for _, id := range gone {
		if i, found := slices.BinarySearchFunc(p.ids, id, func(have uint32, id int64) int { return int(int64(have) - id) }); found {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return p
	}
	slices.Sort(at)
	at = slices.Compact(at)
	out := &postings{ids: make([]uint32, 0, len(p.ids)), where: make([]where, 0, len(p.ids))}
	from := 0
	for _, i := range append(at, len(p.ids)) {
		out.ids, out.where = append(out.ids, p.ids[from:i]...), append(out.where, p.where[from:i]...)
		from = i + 1
	}
	return out
}

// postings finds the documents that have a term.
func (x *Index) postings(ctx context.Context, term string) (*postings, error) {
	p, since, version := x.memory.get(term)
	var err error
	switch {
	case p == nil:
		p, err = x.look(ctx, term, 0)
	case since.low < math.MaxInt64:
		var more *postings
		more, err = x.look(ctx, term, since.low)
		p = p.without(since.gone).with(more)
	default:
		p = p.without(since.gone)
	}
	if err != nil {
		return nil, err
	}
	x.memory.put(term, p, version)
	return p, nil
}

// look asks the index for the documents from an id on that have a term.
func (x *Index) look(ctx context.Context, term string, low int64) (*postings, error) {
	all, err := x.ids(ctx, term, low)
	if err != nil || len(all) == 0 {
		return &postings{}, err
	}
	p := &postings{all, make([]where, len(all))}
	for _, part := range []struct {
		columns string
		where   where
	}{{"{headings} : ", inHeadings}, {"{title names} : ", inNames}} {
		some, err := x.ids(ctx, part.columns+term, low)
		if err != nil {
			return nil, err
		}
		i := 0
		for _, id := range some {
			for i < len(all) && all[i] < id {
				i++
			}
			if i < len(all) && all[i] == id {
				p.where[i] |= part.where
			}
		}
	}
	return p, nil
}

// ids are those of the documents from one on that match, in order. They come as one text,
// for a row of its own costs many times what the id does.
func (x *Index) ids(ctx context.Context, match string, low int64) ([]uint32, error) {
	var text string
	if err := x.read.QueryRowContext(ctx, "SELECT coalesce(group_concat(rowid), '') FROM words WHERE words MATCH ?1 AND rowid >= ?2", match, low).Scan(&text); err != nil || text == "" {
		return nil, err
	}
	out := make([]uint32, 0, strings.Count(text, ",")+1)
	for part := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return nil, err
		}
		out = append(out, uint32(id))
	}
	return out, nil
}
