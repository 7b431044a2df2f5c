package yamldoc

import (
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

// Read reads every document of a file. What is wrong with one document is told
// in its Problems and leaves the others readable. A fatal problem makes the
// rest of the file unreadable: the documents before it are returned.
func Read(data []byte) (docs []Document, fatal *entity.Problem) {
	s := newSplitter(decode(data))
	for {
		c, ok := s.next()
		if !ok {
			return docs, nil
		}
		d, fatal := readChunk(c)
		if fatal != nil {
			return docs, fatal
		}
		docs = append(docs, d)
	}
}

func readChunk(c *chunk) (Document, *entity.Problem) {
	d := Document{At: c.at, Problems: c.problems}
	if len(d.Problems) > 0 {
		return d, nil
	}
	root, problem := c.parse()
	if problem != nil {
		d.Problems = []entity.Problem{*problem}
		return d, nil
	}
	b := builder{chunk: c}
	d.Value = b.document(root)
	if len(b.problems) > 0 {
		d.Problems, d.Value = b.problems, nil
		return d, nil
	}
	d.Null = d.Value == nil
	return d, b.fatal
}
