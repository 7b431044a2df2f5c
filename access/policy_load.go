package access

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxPolicy bounds a rules file, in bytes.
const maxPolicy = 1 << 20

//go:embed default_policy.yaml
var defaultPolicy []byte

// DefaultPolicy is what holds where no policy is configured: every caller
// reads the whole catalog; callers with the role developer, or with no role at
// all, act on what one of their groups owns, but force nothing; sre and admin
// act on everything and read the whole audit.
func DefaultPolicy() *Policy {
	p, err := LoadPolicy(defaultPolicy, "default_policy.yaml")
	if err != nil { // the file is part of the program and tested
		panic(err)
	}
	return p
}

// policyFile is a rules file.
type policyFile struct {
	Rules []ruleSpec `yaml:"rules"`
}

type ruleSpec struct {
	Name    string   `yaml:"name"`
	Effect  string   `yaml:"effect"`
	Who     whoSpec  `yaml:"who"`
	Actions []string `yaml:"actions"`
	On      Selector `yaml:"on"`
	// Approval belongs to the effect approval alone.
	Approval *approvalSpec `yaml:"approval"`
	// Limit belongs to the effect limit alone.
	Limit *limitSpec `yaml:"limit"`
}

type whoSpec struct {
	Subjects  []string `yaml:"subjects"`
	Agents    []string `yaml:"agents"`
	Groups    []string `yaml:"groups"`
	Roles     []string `yaml:"roles"`
	Anonymous bool     `yaml:"anonymous"`
}

// LoadPolicy reads a rules file; file is its name, for messages. It is strict:
// the error is a Problems that holds everything wrong with it, with lines.
func LoadPolicy(data []byte, file string) (*Policy, error) {
	l := &loader{file: file}
	spec, ok := l.decode(data)
	if !ok {
		return nil, l.problems.err()
	}
	p := &Policy{rules: make([]rule, 0, len(spec.Rules))}
	if len(spec.Rules) == 0 {
		l.add("rules", "Write at least one rule; without any, nobody may do anything.", "there are no rules")
	}
	seen := map[string]int{}
	for i := range spec.Rules {
		r := l.rule(fmt.Sprintf("rules[%d]", i), &spec.Rules[i])
		if at, dup := seen[r.name]; dup && r.name != "" {
			l.add(fmt.Sprintf("rules[%d].name", i), "Give each rule a name of its own; the audit speaks of rules by name.", "%q is the name of rules[%d] already", r.name, at)
		}
		seen[r.name] = i
		p.rules = append(p.rules, r)
	}
	if err := l.problems.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// loader collects what is wrong with one rules file.
type loader struct {
	file     string
	root     *yaml.Node
	problems Problems
}

func (l *loader) add(path, fix, format string, args ...any) {
	p := Problem{File: l.file, Path: path, Fix: fix, Message: fmt.Sprintf(format, args...)}
	if n := find(l.root, path); n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	l.problems = append(l.problems, p)
}

// decode reads the YAML strictly: one document, known keys, right types.
func (l *loader) decode(data []byte) (*policyFile, bool) {
	if len(data) > maxPolicy {
		l.add("", "Split the policy or shorten it.", "the rules file has %d bytes, more than %d", len(data), maxPolicy)
		return nil, false
	}
	var spec policyFile
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&spec); err != nil && !errors.Is(err, io.EOF) {
		l.decodeError(err)
		return nil, false
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		l.add("", "Keep all rules in one document.", "the rules file holds more than one YAML document")
		return nil, false
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err == nil && len(doc.Content) == 1 {
		l.root = doc.Content[0]
	}
	return &spec, true
}

var (
	yamlLine     = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	unknownField = regexp.MustCompile(`^field (.+) not found in type access\.(\w+)$`)
	typeMismatch = regexp.MustCompile("(?s)^cannot unmarshal !!(\\w+) (`.*` )?into (.*)$")
)

// decodeError turns what the YAML reader says into problems with lines.
func (l *loader) decodeError(err error) {
	lines := []string{err.Error()}
	var te *yaml.TypeError
	if errors.As(err, &te) {
		lines = te.Errors
	}
	for _, text := range lines {
		p := Problem{File: l.file, Message: strings.TrimPrefix(text, "yaml: ")}
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			p.Line, _ = strconv.Atoi(m[1]) // digits; beyond int it stays 0
			p.Column, p.Message = 1, m[2]
		}
		if m := unknownField.FindStringSubmatch(p.Message); m != nil {
			p.Message = fmt.Sprintf("unknown key %q", clip(m[1], 80))
			p.Fix = "Known here: " + strings.Join(knownKeys(m[2]), ", ") + "."
		}
		if m := typeMismatch.FindStringSubmatch(p.Message); m != nil {
			p.Message = fmt.Sprintf("%s %sstands where %s belongs", yamlKind(m[1]), m[2], goKind(m[3]))
		}
		p.Message = clip(p.Message, 300)
		l.problems = append(l.problems, p)
	}
}

// yamlKind names a YAML tag for a person.
func yamlKind(tag string) string {
	switch tag {
	case "seq":
		return "a list"
	case "map":
		return "a section"
	case "str":
		return "a text"
	case "int":
		return "a whole number"
	case "float":
		return "a number"
	default:
		return "a value of type " + tag
	}
}

// goKind names what belongs where a value of a Go type is read.
func goKind(t string) string {
	switch {
	case t == "string":
		return "a text"
	case t == "time.Duration":
		return "a duration such as 24h"
	case t == "bool":
		return "true or false"
	case strings.HasPrefix(t, "[]"):
		return "a list"
	default:
		return "a section"
	}
}

func knownKeys(typeName string) []string {
	switch typeName {
	case "policyFile":
		return []string{"rules"}
	case "ruleSpec":
		return []string{"name", "effect", "who", "actions", "on", "approval", "limit"}
	case "whoSpec":
		return []string{"subjects", "agents", "groups", "roles", "anonymous"}
	case "approvalSpec":
		return []string{"by", "expires"}
	case "limitSpec":
		return []string{"ttl"}
	case "approverSpec":
		return []string{"owners", "groups", "roles", "subjects"}
	default:
		return []string{"refs", "kinds", "namespaces", "types", "owners", "tags", "environments", "protected", "credentials", "purposes"}
	}
}

// rule checks and compiles one rule.
func (l *loader) rule(path string, s *ruleSpec) rule {
	r := rule{name: s.Name, deny: s.Effect == "deny", actions: s.Actions}
	if err := checkName(s.Name); err != nil {
		l.add(path+".name", "Give the rule a short name such as read-catalog.", "the name %v", err)
	}
	switch s.Effect {
	case "allow", "deny", effectApproval, effectLimit:
	default:
		l.add(path+".effect", `Write "allow", "deny", "approval" or "limit".`, "%q is no effect", clip(s.Effect, 80))
	}
	r.approval = l.approval(path, s)
	r.ttl = l.limit(path, s)
	r.who = l.callers(path+".who", &s.Who)
	l.actions(path+".actions", s.Actions)
	r.on = l.selector(path+".on", &s.On)
	return r
}

func (l *loader) callers(path string, s *whoSpec) callers {
	c := callers{anonymous: s.Anonymous, roles: s.Roles, agents: s.Agents}
	c.subjects = l.refs(path+".subjects", s.Subjects, "user", "*")
	c.groups = l.refs(path+".groups", s.Groups, "group", "*", "")
	if !s.Anonymous && len(s.Subjects)+len(s.Agents)+len(s.Groups)+len(s.Roles) == 0 {
		l.add(path, `Name subjects, agents, groups, roles or anonymous; subjects: ["*"] is everybody with a token.`, "the rule does not say for whom it is")
	}
	return c
}

func (l *loader) actions(path string, patterns []string) {
	if len(patterns) == 0 {
		l.add(path, `Name actions, for example catalog.read or "catalog.*".`, "the rule names no actions")
	}
	for i, pattern := range patterns {
		if !slices.ContainsFunc(Actions(), func(a Action) bool { return glob(pattern, string(a)) }) {
			l.add(fmt.Sprintf("%s[%d]", path, i), "Known: "+joinActions()+`; * stands for any part.`, "%q matches no action", clip(pattern, 80))
		}
	}
}

func joinActions() string {
	var names []string
	for _, a := range Actions() {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

func (l *loader) selector(path string, s *Selector) Selector {
	return Selector{
		Refs:       l.exact(path+".refs", l.refs(path+".refs", s.Refs, "component")),
		Kinds:      l.exact(path+".kinds", lower(s.Kinds)),
		Namespaces: l.exact(path+".namespaces", lower(s.Namespaces)),
		Types:      l.exact(path+".types", lower(s.Types)),
		Owners:     l.exact(path+".owners", l.refs(path+".owners", s.Owners, "group", own)),
		Tags:       l.exact(path+".tags", slices.Clone(s.Tags)),

		Environments: l.exact(path+".environments", slices.Clone(s.Environments)), Protected: s.Protected,
		Credentials: l.exact(path+".credentials", slices.Clone(s.Credentials)), Purposes: l.exact(path+".purposes", slices.Clone(s.Purposes)),
	}
}

// refs completes references but for the words that are kept as they are.
func (l *loader) refs(path string, in []string, kind string, keep ...string) []string {
	var out []string
	for i, s := range in {
		if slices.Contains(keep, s) {
			out = append(out, s)
			continue
		}
		full, err := fullRef(s, kind)
		if err != nil {
			l.add(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("Write for example %s:default/name.", kind), "%v", err)
			continue
		}
		out = append(out, full)
	}
	return out
}

// exact refuses patterns where only whole values count, and sorts.
func (l *loader) exact(path string, values []string) []string {
	for i, v := range values {
		if v == "" || strings.Contains(v, "*") {
			l.add(fmt.Sprintf("%s[%d]", path, i), "Name each value in full, or leave the list out to mean all.", "%q: entities are picked by whole values, without patterns", clip(v, 80))
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func lower(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = strings.ToLower(s)
	}
	return out
}

var pathStep = regexp.MustCompile(`[^.\[\]]+`)

// find gives the node at a path such as rules[2].on.owners[0], or the deepest
// there is on the way to it.
func find(n *yaml.Node, path string) *yaml.Node {
	for _, step := range pathStep.FindAllString(path, -1) {
		next := child(n, step)
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

func child(n *yaml.Node, step string) *yaml.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.AliasNode:
		return child(n.Alias, step)
	case n.Kind == yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
	}
	return nil
}
