package app

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"gopkg.in/yaml.v3"
)

// ConfigProblem is one thing wrong with the configuration file.
type ConfigProblem struct {
	// Line counts from 1; 0 where no line can be named.
	Line int
	// Path names the key, for example catalog.sources[2].git.url.
	Path string
	// Message says what is wrong and, where it is known, what to write.
	Message string
}

// String is line N: path: message.
func (p ConfigProblem) String() string {
	s := p.Message
	if p.Path != "" {
		s = p.Path + ": " + s
	}
	if p.Line > 0 {
		s = "line " + strconv.Itoa(p.Line) + ": " + s
	}
	return s
}

// decodeStrict reads YAML into out, a pointer to a struct, and reports every
// unknown key and every value of the wrong type.
func decodeStrict(data []byte, out any) (*yaml.Node, []ConfigProblem) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, []ConfigProblem{syntaxProblem(err)}
	}
	if len(doc.Content) == 0 {
		return &yaml.Node{Kind: yaml.MappingNode}, nil
	}
	root := doc.Content[0]
	problems := unknownKeys(root, reflect.TypeOf(out).Elem(), "")
	var wrong *yaml.TypeError
	if err := root.Decode(out); errors.As(err, &wrong) {
		for _, text := range wrong.Errors {
			problems = append(problems, typeProblem(text))
		}
	} else if err != nil {
		problems = append(problems, ConfigProblem{Message: err.Error()})
	}
	return root, problems
}

var lineOf = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?line (\d+): (.*)$`)

func syntaxProblem(err error) ConfigProblem {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := lineOf.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return ConfigProblem{Line: n, Message: "not valid YAML: " + m[2]}
	}
	return ConfigProblem{Message: "not valid YAML: " + text}
}

var typeMismatch = regexp.MustCompile("^cannot unmarshal !!(\\w+)(?: `(.*)`)? into (.*)$")

func typeProblem(text string) ConfigProblem {
	p := syntaxProblem(errors.New(text))
	p.Message = strings.TrimPrefix(p.Message, "not valid YAML: ")
	if m := typeMismatch.FindStringSubmatch(p.Message); m != nil {
		p.Message = fmt.Sprintf("%q is no %s", m[2], typeWords(m[3]))
	}
	return p
}

func typeWords(goType string) string {
	switch {
	case goType == "time.Duration":
		return "duration such as 30s, 5m or 2h"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"):
		return "whole number"
	case goType == "bool":
		return "true or false"
	case strings.HasPrefix(goType, "[]"):
		return "list"
	case goType == "string":
		return "text"
	default:
		return "mapping"
	}
}

// unknownKeys walks a node beside the type that it is read into.
func unknownKeys(n *yaml.Node, t reflect.Type, path string) []ConfigProblem {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var out []ConfigProblem
	switch {
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		return structKeys(n, t, path)
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			out = append(out, unknownKeys(n.Content[i+1], t.Elem(), join(path, n.Content[i].Value))...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Slice: // a list's only entry, where that may stand alone
		return unknownKeys(n, t.Elem(), path)
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for i, item := range n.Content {
			out = append(out, unknownKeys(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return out
}

func structKeys(n *yaml.Node, t reflect.Type, path string) []ConfigProblem {
	known := map[string]reflect.Type{}
	fieldsOf(t, known)
	var out []ConfigProblem
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if ft, ok := known[key.Value]; ok {
			out = append(out, unknownKeys(n.Content[i+1], ft, join(path, key.Value))...)
			continue
		}
		names := make([]string, 0, len(known))
		for k := range known {
			names = append(names, k)
		}
		slices.Sort(names)
		out = append(out, ConfigProblem{Line: key.Line, Path: join(path, key.Value), Message: "unknown key" + suggestion(key.Value, names)})
	}
	return out
}

func fieldsOf(t reflect.Type, known map[string]reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if opts == "inline" {
			fieldsOf(f.Type, known)
		} else if name != "" && name != "-" {
			known[name] = f.Type
		}
	}
}

// suggestion names the nearest known word, or all of them.
func suggestion(word string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return "; known here: " + strings.Join(known, ", ")
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// lineAt finds the line of a dotted path such as a.b[2].c, or of the nearest
// part of it that is there.
func lineAt(root *yaml.Node, path string) int {
	line, n := 0, root
	for _, part := range pathParts.FindAllString(path, -1) {
		if n = child(n, part); n == nil {
			return line
		}
		line = n.Line
	}
	return line
}

var pathParts = regexp.MustCompile(`[^.\[\]]+`)

func child(n *yaml.Node, part string) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return n.Content[i+1]
			}
		}
		if part == "0" { // the only entry of a list
			return n
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}
