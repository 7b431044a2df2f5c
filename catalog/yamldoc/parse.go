package yamldoc

import (
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// parse makes nodes of the text; the root is nil where there is no content.
func (c *chunk) parse() (*yaml.Node, *entity.Problem) {
	text := c.text
	if n := len(text); n > 0 && text[n-1] != '\n' {
		// Without a final line feed the last line of a block scalar would lose its own.
		text = append(append(make([]byte, 0, n+1), text...), '\n')
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		p := c.explain(err.Error())
		return nil, &p
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

var lineOfError = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func (c *chunk) explain(text string) entity.Problem {
	m := lineOfError.FindStringSubmatch(text)
	n, _ := strconv.Atoi(m[1])
	line := c.line
	if n > 0 {
		line += uint32(n) - 1
	}
	return problemAt(entity.Position{Line: line, Column: 1}, "", "not valid YAML: %s", strings.TrimPrefix(text, m[0]))
}
