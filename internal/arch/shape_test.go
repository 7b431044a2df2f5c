package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// TestOperationsHaveOneShape holds every exported method of a room's services
// that takes a caller to func(ctx, who access.Caller, in VerbInput) (*Out, error).
func TestOperationsHaveOneShape(t *testing.T) {
	found := 0
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || !fn.Name.IsExported() || !onService(fn) || !takesCaller(fn) {
				continue
			}
			found++
			if why := misshaped(fn); why != "" {
				t.Errorf("%s: %s %s", s.path, fn.Name.Name, why)
			}
		}
	}
	if found < 8 {
		t.Errorf("found only %d operations", found)
	}
}

func onService(fn *ast.FuncDecl) bool {
	star, ok := fn.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	id, ok := star.X.(*ast.Ident)
	return ok && strings.HasSuffix(id.Name, "Service")
}

func takesCaller(fn *ast.FuncDecl) bool {
	for _, p := range fn.Type.Params.List {
		if strings.HasSuffix(typeName(p.Type), "Caller") {
			return true
		}
	}
	return false
}

func misshaped(fn *ast.FuncDecl) string {
	p := fn.Type.Params.List
	if streams(fn) {
		return "" // a subscription, which doors carry in their own ways
	}
	if len(p) != 3 || typeName(p[0].Type) != "context.Context" || !strings.HasSuffix(typeName(p[1].Type), "Caller") {
		return "must take (ctx context.Context, who access.Caller, in " + fn.Name.Name + "Input)"
	}
	if got, want := typeName(p[2].Type), fn.Name.Name+"Input"; got != want {
		return "takes " + got + ", not " + want
	}
	r := fn.Type.Results
	if r == nil || len(r.List) != 2 || typeName(r.List[1].Type) != "error" || !strings.HasPrefix(typeName(r.List[0].Type), "*") {
		return "must return (*Out, error)"
	}
	return ""
}

func streams(fn *ast.FuncDecl) bool {
	r := fn.Type.Results
	if r == nil || len(r.List) != 1 {
		return false
	}
	_, ok := r.List[0].Type.(*ast.ChanType)
	return ok
}

func typeName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return typeName(x.X) + "." + x.Sel.Name
	case *ast.StarExpr:
		return "*" + typeName(x.X)
	default:
		return ""
	}
}
