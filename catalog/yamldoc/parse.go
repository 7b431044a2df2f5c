package yamldoc

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// parse makes nodes of the structure; the root is nil where there is no
// content.
func (s *scanner) parse() (*yaml.Node, *entity.Problem) {
	var doc yaml.Node
	if err := yaml.Unmarshal(s.out, &doc); err != nil {
		p := s.explain(err.Error())
		return nil, &p
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// explain says what is wrong with a structure that yaml.v3 refused.
func (s *scanner) explain(text string) entity.Problem {
	if p, ok := s.findMistake(); ok {
		return p
	}
	at := entity.Position{}
	if i := s.firstContent(); i >= 0 {
		at = s.marks[i].at
	}
	return problemAt(at, "Check the indentation and the brackets.", "the document is not valid YAML: %s",
		strings.TrimPrefix(text, "yaml: "))
}

func (s *scanner) findMistake() (entity.Problem, bool) { return entity.Problem{}, false }
