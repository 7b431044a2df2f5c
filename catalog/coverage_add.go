package catalog

import (
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// wanted is a key to add with its value in flow style, or with keys of its
// own.
type wanted struct {
	key, value string
	below      []wanted
	thing      string
}

// additions are what declares all that is missing of a service, one for each
// place in its file.
func additions(it ServiceCoverage) []Addition {
	lacks := func(name string) bool { return it.lacks(name) }
	spec := it.entity.Spec()
	block := spec.Object("fairlead")
	name, team := it.entity.Ref.Name, it.Owner[strings.LastIndexByte(it.Owner, '/')+1:]
	var root, inner, commands []wanted
	add := func(to *[]wanted, thing, key, value string) {
		if lacks(thing) {
			*to = append(*to, wanted{key: key, value: value, thing: thing})
		}
	}
	add(&root, "owner", "owner", "TEAM")
	add(&commands, "build", "build", "make build")
	add(&commands, "test", "test", "make test")
	add(&inner, "slo", "slos", `["slo/*.yaml"]`)
	add(&inner, "runbook", "runbooks", `["docs/runbooks/*.md"]`)
	add(&inner, "oncall", "oncall", `{url: "https://pager.example.com/`+team+`"}`)
	if _, there := block.Lookup("deployRepo"); !there {
		add(&inner, "deploy", "deployRepo", `"https://git.example.com/deploy.git"`)
	}
	add(&inner, "deploy", "environments", `[{name: production, path: apps/`+name+`/overlays/production}]`)
	var out []Addition
	p := placing{it.entity, unitOf(it.entity)}
	if at := block.Object("commands"); len(commands) > 0 && at.Len() > 0 {
		out = append(out, p.add(block, "commands", at, commands))
	} else if len(commands) > 0 {
		inner = append([]wanted{{key: "commands", below: commands}}, inner...)
	}
	if len(inner) > 0 && block.Len() > 0 {
		out = append(out, p.add(spec, "fairlead", block, inner))
	} else if _, there := spec.Lookup("fairlead"); len(inner) > 0 && there {
		out = append(out, p.add(spec, "fairlead", block, inner))
	} else if len(inner) > 0 {
		root = append(root, wanted{key: "fairlead", below: inner})
	}
	if len(root) > 0 {
		out = append(out, p.add(it.entity.Root, "spec", spec, root))
	}
	return out
}

// placing finds places in the file of an entity.
type placing struct {
	e *Entity
	// unit is how many columns a level is indented.
	unit int
}

// unitOf is the indentation of the file, 2 where it does not show.
func unitOf(e *Entity) int {
	spec := e.Spec()
	if spec.Len() > 0 && !isFlow(spec) {
		if n := int(spec.Members[0].At.Column) - int(e.Root.Position("spec").Column); n > 0 {
			return n
		}
	}
	return 2
}

// isFlow tells whether a mapping is written in braces: it then begins before
// its first key.
func isFlow(o *entity.Object) bool {
	return o.Len() == 0 || o.At.Line > 0 && o.At != o.Members[0].At
}

// add puts keys into the mapping at a key of its parent.
func (p placing) add(parent *entity.Object, key string, into *entity.Object, keys []wanted) Addition {
	from := p.e.From
	a := Addition{Repo: from.Repository, File: from.Path, Things: thingsOf(keys)}
	at := parent.Position(key)
	switch {
	case into != nil && isFlow(into):
		a.Line, a.Column, a.Lines = int(into.At.Line), int(into.At.Column)+1, flow(keys)
		if into.Len() > 0 {
			first := into.Members[0].At
			a.Line, a.Column, a.Lines = int(first.Line), int(first.Column), flow(keys)+", "
		}
	case into.Len() > 0:
		a.Line = int(at.Line)
		a.Lines = block(keys, max(0, int(into.Members[0].At.Column)-1), p.unit)
	default:
		a.Line = int(at.Line)
		a.Lines = block(keys, max(0, int(at.Column)-1)+p.unit, p.unit)
	}
	return a
}

func thingsOf(keys []wanted) []string {
	var out []string
	for _, k := range keys {
		names := thingsOf(k.below)
		if k.thing != "" {
			names = append(names, k.thing)
		}
		for _, n := range names {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// block writes keys a line each.
func block(keys []wanted, indent, unit int) string {
	var lines []string
	for _, k := range keys {
		line := strings.Repeat(" ", indent) + k.key + ":"
		if k.below == nil {
			lines = append(lines, line+" "+k.value)
			continue
		}
		lines = append(lines, line, block(k.below, indent+unit, unit))
	}
	return strings.Join(lines, "\n")
}

// flow writes keys in one line, as they stand between braces.
func flow(keys []wanted) string {
	var parts []string
	for _, k := range keys {
		if k.below != nil {
			k.value = "{" + flow(k.below) + "}"
		}
		parts = append(parts, k.key+": "+k.value)
	}
	return strings.Join(parts, ", ")
}
