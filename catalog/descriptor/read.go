package descriptor

import (
	"fmt"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/yamldoc"
)

// Read parses a catalog file and checks envelopes and rules; it does no I/O.
// Every problem of every document is told, up to a limit that is told too.
func (p *Processor) Read(at Location, data []byte) *File {
	f := &File{At: at, addresses: p.addressesOf(at)}
	docs, fatal := yamldoc.Read(data)
	for i := range docs {
		if docs[i].Null {
			continue
		}
		p.readDocument(f, &docs[i])
	}
	if fatal != nil {
		problem := *fatal
		f.broken, f.Truncated = true, true
		f.Documents = append(f.Documents, &Document{
			Index: len(f.Documents), Stage: StageParse,
			At:       entity.Position{Line: problem.Line, Column: problem.Column},
			Problems: []entity.Problem{problem},
		})
	}
	f.limit()
	return f
}

func (p *Processor) readDocument(f *File, y *yamldoc.Document) {
	d := &Document{Index: len(f.Documents), Stage: StageParse, At: y.At}
	f.Documents = append(f.Documents, d)
	if len(y.Problems) > 0 {
		d.Problems, f.broken = y.Problems, true
		return
	}
	var c findings
	defer func() { d.Problems = c.problems() }()
	root, ok := y.Value.(*entity.Object)
	if !ok {
		f.broken = true
		c.add(y.At, "Write a mapping with apiVersion, kind, metadata and spec.", "the document is %s, not a mapping", show(y.Value))
		return
	}
	d.Raw, d.Stage = root, StageEnvelope
	if checkEnvelope(&c, root); c.any() {
		f.broken = true
		return
	}
	d.Stage, d.Ref = StageProcess, identity(root).Canonical()
	if _, ok := p.allowed[d.Ref.Kind]; !ok {
		f.forbidden = true
		c.note(root.Position("kind"), notAllowedError, "Remove the document, or have the kind allowed by the catalog's rules.",
			"kind %s is not allowed here, so nothing of the file is read", quote(root.String("kind")))
	}
}

// limit cuts off what problems a file has beyond the limit and says how many
// there are.
func (f *File) limit() {
	left, more := maxProblems, 0
	for _, d := range f.Documents {
		if n := len(d.Problems); n > left {
			more += n - left
			d.Problems = d.Problems[:left]
		}
		left -= len(d.Problems)
	}
	if more > 0 {
		f.Problems = append(f.Problems, entity.Problem{
			Severity: entity.SeverityError, Name: inputError,
			Message: fmt.Sprintf("%d more problems of the file are not listed", more),
			Fix:     "Put those listed right first.",
		})
	}
}

// yamlValue is the one document of a YAML file that a placeholder names.
func yamlValue(target string, data []byte, at entity.Position) (entity.Value, *trouble) {
	docs, fatal := yamldoc.Read(data)
	problem := fatal
	if problem == nil && len(docs) != 1 {
		return nil, &trouble{inputError, fmt.Sprintf("names %s, which holds %d YAML documents instead of one", quote(target), len(docs)),
			"Leave exactly one document in the file."}
	}
	if problem == nil && len(docs[0].Problems) > 0 {
		problem = &docs[0].Problems[0]
	}
	if problem != nil {
		return nil, &trouble{inputError, fmt.Sprintf("names %s, which is not valid YAML: line %d: %s", quote(target), problem.Line, problem.Message),
			"Put the file right, or use $text."}
	}
	return locate(docs[0].Value, at), nil
}
