package fts

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// part is a part of a document that a word is in; of several it is the one that
// counts most.
type part int

const (
	inText part = iota
	inHeadings
	inNames // or the title
	parts
)

// value is what BM25 gives for a word that is there, if the text has it twice.
func (p part) value() float32 { return [parts]float32{1.3, 1.6, 1.9}[p] }

// postings are the documents that have a word, by their ids, each in one part.
// They are never changed.
type postings [parts]*roaring.Bitmap

// nobody is the postings of a word that no document has.
func nobody() *postings { return &postings{roaring.New(), roaring.New(), roaring.New()} }

// count is how many documents there are.
func (p *postings) count() (n int) {
	for _, b := range p {
		n += int(b.GetCardinality()) //nolint:gosec // ids have 32 bits
	}
	return n
}

// bytes is how much memory they take.
func (p *postings) bytes() (n int) {
	for _, b := range p {
		n += int(b.GetSizeInBytes()) //nolint:gosec // of so many ids
	}
	return n
}

// among are those of some documents.
func (p *postings) among(some *roaring.Bitmap) *postings {
	out := &postings{}
	for i, b := range p {
		out[i] = roaring.And(b, some)
	}
	return out
}

// with are those of both.
func (p *postings) with(o *postings) *postings {
	out := &postings{}
	for i, b := range p {
		out[i] = roaring.Or(b, o[i])
	}
	return out
}

// look asks the index for the documents from an id on that match.
func (x *Index) look(ctx context.Context, match string, low uint32) (*postings, error) {
	p := &postings{}
	for i, columns := range [parts]string{"", "{headings} : ", "{title names} : "} {
		var err error
		if p[i], err = ids(ctx, x.read, "SELECT coalesce(group_concat(rowid), '') FROM words WHERE words MATCH ?1 AND rowid >= ?2", columns+match, low); err != nil {
			return nil, err
		}
		if p[inText].IsEmpty() {
			return nobody(), nil
		}
	}
	p.apart()
	return p, nil
}

// apart leaves each document in the part that counts most, while nobody else
// knows the postings.
func (p *postings) apart() {
	p[inHeadings].AndNot(p[inNames])
	p[inText].AndNot(p[inNames])
	p[inText].AndNot(p[inHeadings])
}

// ids are those that a query gives, in order. They come as one text, for a row
// of its own costs many times what the id does.
func ids(ctx context.Context, in querier, query string, args ...any) (*roaring.Bitmap, error) {
	var text string
	if err := in.QueryRowContext(ctx, query, args...).Scan(&text); err != nil {
		return nil, err
	}
	out := roaring.New()
	if text == "" {
		return out, nil
	}
	list := make([]uint32, 0, strings.Count(text, ",")+1)
	for one := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseUint(one, 10, 32)
		if err != nil {
			return nil, err
		}
		list = append(list, uint32(id))
	}
	out.AddMany(list)
	return out, nil
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
