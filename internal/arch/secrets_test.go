package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const valuePackage = module + "/secrets/value"

// revealers are the functions that may look into a secrets/value.Value, each
// with the reason. Nothing else turns a credential's value into text.
var revealers = map[string]string{
	"cmd/fairlead/loan.(*Opener).Open":          "sends the wrapping token to Vault",
	"cmd/fairlead/loan.inEnvironment":           "the environment of the program that is run",
	"cmd/fairlead/loan.(*Credential).file":      "the file in memory that the program reads",
	"cmd/fairlead/loan.(*Credential).allInFile": "the file in memory that the program reads",
	"cmd/fairlead/loan.(*Credential).Scrubber":  "measures it",
	"cmd/fairlead/scrub.New":                    "looks for it in what the program writes",
	"secrets.(Shown).MarshalJSON":               "the one answer that holds it, of native REST",
	"secrets/vault.(*Vault).Draw":               "sends the account's token to Vault",
	"secrets/vault.(*Vault).Unwrap":             "sends the wrapping token to Vault",
	"secrets/secretstest":                       "an issuer of tests",
}

// loaded is a package of ours with its types.
type loaded struct {
	dir  string
	info *types.Info
	fset *token.FileSet
	file []*ast.File
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Deps                    []string
	Standard                bool
}

// secretive loads all our packages that a Value can get into. It needs their
// compiled dependencies, which a build has left behind.
func secretive(t *testing.T) []loaded {
	t.Helper()
	root := repositoryRoot(t)
	names := goList(t, root, "-f", `{{range .Deps}}{{if eq . "`+valuePackage+`"}}{{$.ImportPath}} {{end}}{{end}}`, module+"/...")
	ours := slices.DeleteFunc(append(strings.Fields(string(names)), valuePackage), func(p string) bool {
		return p == module+"/cmd/fairleadd" // links the largest libraries, and holds a main function alone
	})
	if len(ours) < 3 {
		t.Fatalf("only %v can hold a Value: the test does not see them", ours)
	}
	exports := map[string]string{}
	var own []listed
	for d := json.NewDecoder(bytes.NewReader(goList(t, root, append([]string{"-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Standard"}, ours...)...))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if slices.Contains(ours, p.ImportPath) {
			own = append(own, p)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var out []loaded
	for _, p := range own {
		out = append(out, check(t, root, fset, imports, p))
	}
	return out
}

func goList(t *testing.T, root string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err, problems.String())
	}
	return out
}

func check(t *testing.T, root string, fset *token.FileSet, imports types.Importer, p listed) loaded {
	t.Helper()
	dir, err := filepath.Rel(root, p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	l := loaded{dir: filepath.ToSlash(dir), fset: fset, info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{}}}
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		l.file = append(l.file, f)
	}
	if _, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, l.file, l.info); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestValuesStayClosed finds whatever looks into a Value outside of revealers:
// calls of Reveal, also of one that is embedded or taken as a function, and
// interfaces that would hide one.
func TestValuesStayClosed(t *testing.T) {
	there, used := map[string]bool{}, map[string]bool{}
	for _, p := range secretive(t) {
		for _, f := range p.file {
			for _, d := range f.Decls {
				name := p.dir + "." + declared(d)
				there[name] = true
				ast.Inspect(d, func(n ast.Node) bool {
					why := opens(p, n)
					if why == "" {
						return true
					}
					used[name] = true
					if revealers[name] == "" && revealers[p.dir] == "" {
						t.Errorf("%s: %s %s: a credential's value leaves its Value only where revealers says so", p.fset.Position(n.Pos()), name, why)
					}
					return true
				})
			}
			for _, imp := range f.Imports {
				if path := strings.Trim(imp.Path.Value, `"`); path == "unsafe" {
					t.Errorf("%s imports unsafe, which sees through a Value", p.fset.Position(imp.Pos()))
				}
			}
		}
	}
	for name := range revealers {
		if there[name] && !used[name] {
			t.Errorf("%s is among revealers and reveals nothing: take it out", name)
		}
	}
}

// opens tells how a node looks into a Value; "" is not.
func opens(p loaded, n ast.Node) string {
	switch n := n.(type) {
	case *ast.Ident:
		if fn, ok := p.info.Uses[n].(*types.Func); ok && reveals(fn) {
			return "uses Reveal"
		}
	case *ast.InterfaceType:
		for _, m := range n.Methods.List {
			if len(m.Names) > 0 && m.Names[0].Name == "Reveal" {
				return "declares an interface with Reveal"
			}
		}
	}
	return ""
}

// reveals tells whether a function is Value.Reveal. Inside the package itself
// there are no uses of it.
func reveals(fn *types.Func) bool {
	return fn.Name() == "Reveal" && fn.Pkg() != nil && fn.Pkg().Path() == valuePackage
}

// declared names a declaration.
func declared(d ast.Decl) string {
	fn, ok := d.(*ast.FuncDecl)
	switch {
	case !ok:
		return "var"
	case fn.Recv == nil:
		return fn.Name.Name
	}
	return "(" + typeName(fn.Recv.List[0].Type) + ")." + fn.Name.Name
}

// TestValueGivesNothingAway holds the methods of Value to those that have been
// looked at: of them Reveal alone gives what is in it.
func TestValueGivesNothingAway(t *testing.T) {
	want := []string{"Format", "GoString", "GobEncode", "IsZero", "LogValue", "MarshalBinary", "MarshalJSON", "MarshalText", "MarshalYAML", "Reveal", "String", "Wipe"}
	for _, p := range secretive(t) {
		if p.dir != "secrets/value" {
			continue
		}
		var methods, others []string
		for _, f := range p.file {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if ok && fn.Recv != nil {
					methods = append(methods, fn.Name.Name)
				} else if ok {
					others = append(others, fn.Name.Name)
				}
			}
		}
		slices.Sort(methods)
		if !slices.Equal(methods, want) || !slices.Equal(others, []string{"New"}) {
			t.Errorf("methods %v and functions %v: look at what is new, then add it here", methods, others)
		}
		return
	}
	t.Error("secrets/value was not found")
}
