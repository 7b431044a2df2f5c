package rego

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/access"
)

const (
	// maxFiles bounds the files of a folder of policies, maxBytes all they hold.
	maxFiles = 200
	maxBytes = 4 << 20
	// dataFile is what the values beside the policies are in; Rego calls them
	// data.config.
	dataFile = "config.yaml"
)

// The rules that are asked for, all of package fairlead.
const (
	denyRule    = "data.fairlead.deny"
	requireRule = "data.fairlead.require"
)

// Policy is a folder of policies, compiled. It is safe for concurrent use.
type Policy struct{ deny, require opa.PreparedEvalQuery }

// folder is what a folder of policies holds.
type folder struct {
	modules map[string]*ast.Module // by file; those of tests, too
	data    map[string]any
}

// Load reads and compiles the policies of a folder: its *.rego files, without
// those that end in _test.rego, and config.yaml beside them as data.config.
// They are of package fairlead and say deny or require. The error is an
// access.Problems with everything that is wrong, with lines.
func Load(ctx context.Context, dir string) (*Policy, error) {
	f, err := readFolder(dir)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(f.modules, func(name string, _ *ast.Module) bool { return strings.HasSuffix(name, "_test.rego") })
	return f.prepare(ctx, dir)
}

// prepare compiles the policies for the questions that are asked.
func (f *folder) prepare(ctx context.Context, dir string) (*Policy, error) {
	if !f.says("deny") && !f.says("require") {
		return nil, problem(dir, "no policy says deny or require", `Write "package fairlead" and rules such as: deny contains {"message": "…", "fix": "…"} if …`)
	}
	compiler, err := f.compile()
	if err != nil {
		return nil, err
	}
	return f.queries(ctx, compiler)
}

func (f *folder) queries(ctx context.Context, compiler *ast.Compiler) (*Policy, error) {
	p, store := &Policy{}, inmem.NewFromObject(f.data)
	for query, into := range map[string]*opa.PreparedEvalQuery{denyRule: &p.deny, requireRule: &p.require} {
		var err error
		if *into, err = opa.New(opa.Query(query), opa.Compiler(compiler), opa.Store(store), opa.StrictBuiltinErrors(true)).PrepareForEval(ctx); err != nil {
			return nil, problems(err)
		}
	}
	return p, nil
}

// says tells whether there is a rule of a name that is asked for.
func (f *folder) says(rule string) bool {
	for _, m := range f.modules {
		if m.Package.Path.String() == "data.fairlead" && slices.ContainsFunc(m.Rules, func(r *ast.Rule) bool { return r.Head.Ref()[0].String() == rule }) {
			return true
		}
	}
	return false
}

// compile compiles the policies for what they may use.
func (f *folder) compile() (*ast.Compiler, error) {
	c := ast.NewCompiler().WithCapabilities(capabilities()).WithStrict(true).WithEnablePrintStatements(false)
	if c.Compile(f.modules); c.Failed() {
		return nil, problems(c.Errors)
	}
	return c, nil
}

// capabilities are OPA's without what reaches out, tells of the machine or
// makes two answers to one question differ. The time is the question's.
func capabilities() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.AllowNet = []string{} // nobody; nil would be everybody
	c.Builtins = slices.DeleteFunc(c.Builtins, outside)
	return c
}

// outside tells of a function that does more than compute.
func outside(b *ast.Builtin) bool {
	switch b.Name {
	case "time.now_ns": // it is given
		return false
	case "opa.runtime", "http.send", "net.lookup_ip_addr", "rego.parse_module", "trace":
		return true
	}
	return b.Nondeterministic || strings.HasPrefix(b.Name, "providers.")
}

// readFolder reads a folder's policies, tests and data.
func readFolder(dir string) (*folder, error) {
	files, err := policyFiles(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{modules: map[string]*ast.Module{}, data: map[string]any{"config": map[string]any{}}}
	if found := f.addAll(files); len(found) > 0 {
		return nil, found
	}
	return f, nil
}

// policyFiles are the files of a folder that count, within bounds.
func policyFiles(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, problem(dir, "the folder of policies cannot be read", "Name a folder with *.rego files.")
	}
	size := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && counts(e) {
			files, size = append(files, filepath.Join(dir, e.Name())), size+info.Size()
		}
	}
	if len(files) > maxFiles || size > maxBytes {
		return nil, problem(dir, fmt.Sprintf("there are more than %d files, or more than %d bytes", maxFiles, maxBytes), "Keep in it the policies alone.")
	}
	return files, nil
}

func counts(e os.DirEntry) bool {
	return !e.IsDir() && (filepath.Ext(e.Name()) == ".rego" || e.Name() == dataFile)
}

func (f *folder) addAll(files []string) (found access.Problems) {
	for _, file := range files {
		var more access.Problems
		if err := f.add(file); errors.As(err, &more) {
			found = append(found, more...)
		}
	}
	return found
}

// add reads one file.
func (f *folder) add(file string) error {
	text, err := os.ReadFile(file)
	switch {
	case err != nil:
		return problem(file, "it cannot be read", "")
	case filepath.Base(file) == dataFile:
		return f.addData(file, text)
	}
	return f.addModule(file, string(text))
}

func (f *folder) addModule(file, text string) error {
	m, err := ast.ParseModuleWithOpts(file, text, ast.ParserOptions{Capabilities: capabilities(), RegoVersion: ast.RegoV1})
	if err != nil {
		return problems(err)
	}
	f.modules[file] = m
	return nil
}

func (f *folder) addData(file string, text []byte) error {
	var v map[string]any
	if err := yaml.Unmarshal(text, &v); err != nil {
		return problem(file, strings.TrimPrefix(err.Error(), "yaml: "), "Write a YAML mapping.")
	}
	plain, err := asJSON(v)
	if err != nil {
		return problem(file, "it holds what JSON cannot: "+err.Error(), "Use texts as keys.")
	}
	f.data["config"] = plain
	return nil
}

// asJSON gives values as JSON has them.
func asJSON(v map[string]any) (map[string]any, error) {
	text, err := json.Marshal(v)
	out := map[string]any{}
	if err == nil && v != nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

// problem is one thing that is wrong with a file.
func problem(file, message, fix string) access.Problems {
	return access.Problems{{File: file, Message: message, Fix: fix}}
}

// problems says what OPA found, with files and lines.
func problems(err error) access.Problems {
	out := access.Problems{}
	for _, e := range errorsOf(err) {
		out = append(out, problemOf(e))
	}
	if len(out) == 0 {
		out = access.Problems{{Message: err.Error()}}
	}
	slices.SortStableFunc(out, inOrder)
	return out
}

// errorsOf are OPA's own errors in an error.
func errorsOf(err error) (many ast.Errors) {
	var one *ast.Error
	if !errors.As(err, &many) && errors.As(err, &one) {
		many = ast.Errors{one}
	}
	return many
}

func problemOf(e *ast.Error) access.Problem {
	p := access.Problem{Message: e.Message}
	if e.Location != nil {
		p.File, p.Line, p.Column = e.Location.File, e.Location.Row, e.Location.Col
	}
	if strings.Contains(e.Message, "undefined function") {
		p.Fix = "Policies reach nothing outside: the time is input.now, and data is in " + dataFile + "."
	}
	return p
}

func inOrder(a, b access.Problem) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
