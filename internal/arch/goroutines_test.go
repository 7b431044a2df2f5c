package arch

import (
	"go/ast"
	"slices"
	"testing"
)

// elsewhere are the packages that the server does not run: programs of their
// own, and what tests and measurements are made of. The file is the supervisor's.
var elsewhere = []string{"cmd", "internal/realtest", "internal/bench", "access/accesstest", "secrets/secretstest", "gitops/render/engine", "previews/local/supervise_linux.go"}

// TestGoroutinesAreCaught holds the server to starting goroutines by one package
// alone: a panic that nobody recovers in its goroutine would end the server.
func TestGoroutinesAreCaught(t *testing.T) {
	starts := 0
	for _, s := range sources(t) {
		home := within(s.path, "internal/fault/beside")
		if slices.ContainsFunc(elsewhere, func(e string) bool { return within(s.path, e) }) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			what := starting(n)
			if what == "" {
				return true
			}
			if starts++; !home {
				t.Errorf("%s: %s: goroutines are started by internal/fault/beside", s.fset.Position(n.Pos()), what)
			}
			return true
		})
	}
	if starts == 0 {
		t.Error("nothing starts a goroutine: the test does not see it")
	}
}

// starting names what starts goroutines, "" for what does not.
func starting(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go"
	case *ast.SelectorExpr:
		if name := typeName(n); name == "sync.WaitGroup" || name == "errgroup.Group" || name == "errgroup.WithContext" {
			return name
		}
	}
	return ""
}
