package yamldoc

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// parse makes nodes of the structure; the root is nil where there is no
// content.
func (s *scanner) parse() (*yaml.Node, *entity.Problem) {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(s.out))
	err := d.Decode(&doc)
	if err == nil {
		// What follows the root would be a document of its own, and it is none.
		if err = d.Decode(&more); err == nil {
			err = errors.New("there is more behind its value")
		}
	}
	switch {
	case !errors.Is(err, io.EOF):
		p := s.explain(err.Error())
		return nil, &p
	case len(doc.Content) == 0:
		return nil, nil
	}
	return doc.Content[0], nil
}

// explain says what is wrong with a structure that yaml.v3 refused.
func (s *scanner) explain(text string) entity.Problem {
	if p, ok := s.findMistake(); ok {
		return p
	}
	if strings.Contains(text, "exceeded max depth") {
		return problemAt(s.lineOf(text), "Nest less deeply.", "collections are nested deeper than %d levels", maxDepth)
	}
	return problemAt(s.lineOf(text), "Check the indentation, the brackets and the colons of this line and the one before it.",
		"the structure of the document breaks here")
}

var lineOfError = regexp.MustCompile(`line (\d+):`)

// lineOf is where the line begins in the file that an error of yaml.v3 names.
func (s *scanner) lineOf(text string) entity.Position {
	n := 1
	if m := lineOfError.FindStringSubmatch(text); m != nil {
		n, _ = strconv.Atoi(m[1])
	}
	i := sort.Search(len(s.marks), func(i int) bool { return int(s.marks[i].line) >= n })
	if i == len(s.marks) {
		return s.chunk.at
	}
	return s.marks[i].at
}
