package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The house numbers.
const (
	maxFunctionLines    = 80
	p90FunctionLines    = 40
	medianFunctionLines = 10
	maxFileLines        = 400
	maxInterfaceMethods = 4
)

// source is one Go file of the program, tests left out.
type source struct {
	path string
	fset *token.FileSet
	file *ast.File
	text []byte
}

func sources(t *testing.T) []source {
	t.Helper()
	root := repositoryRoot(t)
	var out []source
	for dir, pkg := range packages(t) {
		for _, name := range pkg.GoFiles {
			path := filepath.Join(root, dir, name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, source{filepath.Join(dir, name), fset, file, text})
		}
	}
	return out
}

func TestFunctionsAreShort(t *testing.T) {
	var lengths []int
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			n := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1
			lengths = append(lengths, n)
			if n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d", s.path, fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
	slices.Sort(lengths)
	if m := lengths[len(lengths)/2]; m > medianFunctionLines {
		t.Errorf("the median function has %d lines, more than %d", m, medianFunctionLines)
	}
	if p := lengths[len(lengths)*9/10]; p > p90FunctionLines {
		t.Errorf("a tenth of the functions have more than %d lines (%d)", p90FunctionLines, p)
	}
}

func TestFilesAreShort(t *testing.T) {
	root := repositoryRoot(t)
	for dir, pkg := range packages(t) {
		for _, name := range slices.Concat(pkg.GoFiles, pkg.TestGoFiles, pkg.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(root, dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(text, []byte("\n")); n > maxFileLines {
				t.Errorf("%s/%s has %d lines, more than %d", dir, name, n, maxFileLines)
			}
		}
	}
}

func TestDeclarations(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				checkFunc(t, s, d)
			case *ast.GenDecl:
				checkDecl(t, s, d)
			}
		}
	}
}

func checkFunc(t *testing.T, s source, fn *ast.FuncDecl) {
	t.Helper()
	if fn.Recv == nil && fn.Name.Name == "init" {
		t.Errorf("%s has an init function", s.path)
	}
	if fn.Name.IsExported() && fn.Doc == nil && exportedReceiver(fn) {
		t.Errorf("%s: %s is exported and not documented", s.path, fn.Name.Name)
	}
}

func exportedReceiver(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return true
	}
	x := fn.Recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	id, ok := x.(*ast.Ident)
	return ok && id.IsExported()
}

func checkDecl(t *testing.T, s source, d *ast.GenDecl) {
	t.Helper()
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
				t.Errorf("%s: type %s is exported and not documented", s.path, spec.Name.Name)
			}
			if i, ok := spec.Type.(*ast.InterfaceType); ok && i.Methods.NumFields() > maxInterfaceMethods {
				t.Errorf("%s: interface %s has %d methods, more than %d", s.path, spec.Name.Name, i.Methods.NumFields(), maxInterfaceMethods)
			}
		case *ast.ValueSpec:
			if spec.Names[0].IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
				t.Errorf("%s: %s is exported and not documented", s.path, spec.Names[0].Name)
			}
		}
	}
}

// TestVariablesStay finds assignments to package variables: they are set
// where they are declared and never again.
func TestVariablesStay(t *testing.T) {
	byDir := map[string]map[string]bool{}
	all := sources(t)
	for _, s := range all {
		dir := filepath.Dir(s.path)
		if byDir[dir] == nil {
			byDir[dir] = map[string]bool{}
		}
		for _, d := range s.file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, spec := range g.Specs {
					for _, n := range spec.(*ast.ValueSpec).Names {
						byDir[dir][n.Name] = true
					}
				}
			}
		}
	}
	for _, s := range all {
		vars := byDir[filepath.Dir(s.path)]
		ast.Inspect(s.file, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || a.Tok == token.DEFINE {
				return true
			}
			for _, l := range a.Lhs {
				if id, ok := l.(*ast.Ident); ok && vars[id.Name] && id.Obj != nil && id.Obj.Kind == ast.Var && declaredAtTop(s, id) {
					t.Errorf("%s: package variable %s is assigned", s.path, id.Name)
				}
			}
			return true
		})
	}
}

func declaredAtTop(s source, id *ast.Ident) bool { return s.file.Scope.Lookup(id.Name) == id.Obj }

func TestNoUtilities(t *testing.T) {
	for dir := range packages(t) {
		switch name := filepath.Base(dir); name {
		case "utils", "util", "common", "helpers", "misc", "shared":
			t.Errorf("%s: a package is named for what it owns, not %q", dir, name)
		}
	}
}

func TestExceptionsHaveReasons(t *testing.T) {
	for _, s := range sources(t) {
		for i, line := range strings.Split(string(s.text), "\n") {
			if _, after, found := strings.Cut(line, "//nolint"); found && !strings.Contains(after, "// ") {
				t.Errorf("%s:%d: a nolint without a reason", s.path, i+1)
			}
		}
	}
}

// TestCommandLineIsLight holds the command line to what starts fast.
func TestCommandLineIsLight(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"/cmd/fairlead").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, heavy := range []string{
		module + "/internal/app", module + "/internal/store", module + "/mcp", module + "/graphql", module + "/rest",
		"github.com/argoproj/argo-cd/v2", "github.com/hashicorp/vault/api", "modernc.org/sqlite", "helm.sh/helm/v3", "sigs.k8s.io/kustomize",
	} {
		for dep := range strings.Lines(string(out)) {
			if within(strings.TrimSpace(dep), heavy) {
				t.Errorf("cmd/fairlead links %s", strings.TrimSpace(dep))
			}
		}
	}
}

// TestArgoStaysApart holds everything but the server itself, tests included,
// to not linking Argo CD's client: it takes minutes to build, half a minute to
// link and a hundred megabytes to start. The engines that render manifests link
// a part of Kubernetes' client, in a program of their own.
func TestArgoStaysApart(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-test", "-f", `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`, module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := 0
	for line := range strings.Lines(string(out)) {
		deps := strings.Fields(line)
		if !slices.ContainsFunc(deps, func(d string) bool {
			return within(d, "github.com/argoproj/argo-cd/v2") || within(d, "k8s.io/client-go")
		}) {
			continue
		}
		linked++
		pkg := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(deps[0], module+"/"), ".test"), "_test")
		renders := pkg == "gitops/render/engine" || pkg == "cmd/fairlead-render"
		if pkg != "internal/argo" && pkg != "cmd/fairleadd" && (!renders || strings.Contains(line, " github.com/argoproj/")) {
			t.Errorf("%s links Argo CD's client", deps[0])
		}
	}
	if linked == 0 {
		t.Error("nothing links Argo CD's client: the test does not see it")
	}
}
