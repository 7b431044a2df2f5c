package compare

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// conflictError is the class of problem of names that are claimed twice.
const conflictError = "ConflictError"

// problems tells new problems from old ones. A problem that has only moved to
// another line, or with its entity or its file to another file, is an old
// one. Names that several files claim are left to conflicts.
func (c *comparison) problems() Problems {
	out := Problems{New: []Problem{}, Fixed: []Problem{}}
	left, fresh := pair(c.before.Problems, c.after.Problems, inFile, &out)
	there := map[string]bool{}
	for _, f := range c.after.Files {
		there[f] = true
	}
	var movable []Problem
	for i := range left {
		if left[i].Ref != "" || !there[left[i].File] {
			movable = append(movable, left[i])
		} else {
			out.Fixed = append(out.Fixed, left[i])
		}
	}
	left, fresh = pair(movable, fresh, anywhere, &out)
	out.Fixed = append(out.Fixed, left...)
	for i := range fresh {
		if fresh[i].Name != conflictError || fresh[i].Severity == entity.SeverityWarning {
			out.New = append(out.New, fresh[i])
		}
	}
	if out.Old == nil {
		out.Old = []Problem{}
	}
	for _, l := range [][]Problem{out.New, out.Old, out.Fixed} {
		slices.SortStableFunc(l, func(a, b Problem) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
	}
	return out
}

// pair files the problems of after that before has as old, each once, and
// gives what is left of both.
func pair(before, after []Problem, same func(*Problem) problemKey, out *Problems) (left, fresh []Problem) {
	known := map[problemKey]int{}
	for i := range before {
		known[same(&before[i])]++
	}
	for i := range after {
		k := same(&after[i])
		if known[k] == 0 {
			fresh = append(fresh, after[i])
			continue
		}
		known[k]--
		out.Old = append(out.Old, after[i])
	}
	for i := range before {
		if k := same(&before[i]); known[k] > 0 {
			known[k]--
			left = append(left, before[i])
		}
	}
	return left, fresh
}

// problemKey is what stays the same of a problem when lines move.
type problemKey struct{ file, ref, name, message string }

func inFile(p *Problem) problemKey {
	k := anywhere(p)
	if p.Name != conflictError {
		k.file = p.File
	}
	return k
}

var lineNumbers = regexp.MustCompile(`\blines? \d+( and \d+)?|:\d+\b`)

// anywhere is a problem wherever it is.
func anywhere(p *Problem) problemKey {
	k := problemKey{ref: p.Ref, name: p.Name, message: lineNumbers.ReplaceAllString(p.Message, "#")}
	if p.Name == conflictError {
		k.message = string(p.Severity)
	}
	return k
}
