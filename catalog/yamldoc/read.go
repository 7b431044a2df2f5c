package yamldoc

import (
	"cmp"
	"slices"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Document is one YAML document of a file.
type Document struct {
	// Value is what the document holds; meaningless where there are Problems.
	Value entity.Value
	// Null says that the document is empty or null: Backstage skips it.
	Null bool
	// At is where the document's content starts.
	At entity.Position
	// Problems are the errors of syntax, in the order in which they stand. Their
	// File is empty.
	Problems []entity.Problem
}

// maxDocuments is how many documents a file may hold.
const maxDocuments = 20_000

// Read reads every document of a file. What is wrong with one document is told
// in its Problems and leaves the others readable. A fatal problem makes the
// rest of the file unreadable: the documents before it are returned.
func Read(data []byte) (docs []Document, fatal *entity.Problem) {
	s := newSplitter(decode(data))
	r := newReader(len(data))
	for {
		c, ok := s.next()
		if !ok {
			return docs, nil
		}
		if len(docs) == maxDocuments {
			p := problemAt(c.at, "Split the file.", "the file holds more than %d documents", maxDocuments)
			return docs, &p
		}
		d, fatal := r.read(c)
		if fatal != nil {
			return docs, fatal
		}
		docs = append(docs, d)
	}
}

// reader reads documents one after the other.
type reader struct {
	scanner scanner
	seen    map[string]int
}

// newReader makes room for what an ordinary file of so many bytes needs.
func newReader(size int) *reader {
	const perToken, most = 12, 1 << 12
	tokens := min(size/perToken+8, most)
	return &reader{scanner: scanner{
		output:  output{out: make([]byte, 0, min(size, most)+64), marks: make([]mark, 0, tokens)},
		scalars: make([]scalar, 0, tokens/2),
	}}
}

func (r *reader) read(c *chunk) (Document, *entity.Problem) {
	d := Document{At: c.at, Problems: c.problems}
	s := &r.scanner
	s.scan(c)
	if d.Problems = append(d.Problems, s.problems...); len(d.Problems) > 0 {
		return d, nil
	}
	if len(s.marks) == 0 || len(s.marks) == 1 && s.marks[0].kind == 'm' {
		d.Null = true
		return d, nil
	}
	root, problem := s.parse()
	if problem != nil {
		d.Problems = []entity.Problem{*problem}
		return d, nil
	}
	if i := s.firstContent(); i >= 0 {
		d.At = s.marks[i].at
	}
	b := builder{scanner: s, old: c.old, seen: r.seen}
	d.Value = b.document(root)
	r.seen = b.seen
	switch {
	case len(b.problems) > 0:
		slices.SortStableFunc(b.problems, func(p, q entity.Problem) int {
			return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
		})
		d.Problems, d.Value = b.problems, nil
		return d, nil
	case s.unresolved != nil:
		return d, s.unresolved
	}
	d.Null = d.Value == nil
	return d, b.fatal
}

// firstContent is the first mark that is not the "---".
func (s *scanner) firstContent() int {
	for i := range s.marks {
		if s.marks[i].kind != 'm' {
			return i
		}
	}
	return -1
}
