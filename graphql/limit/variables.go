package limit

import (
	"fmt"
	"math"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Variables checks the values of an operation's variables against the built-in
// scalars, which graphql-go would find out too late, and fills in defaults.
// Everything else about them is graphql-go's to tell. The error is an invalid
// fault; what was given stays unchanged.
func Variables(schema *ast.Schema, op *ast.OperationDefinition, given map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(given))
	for k, v := range given {
		out[k] = v
	}
	for _, def := range op.VariableDefinitions {
		v, ok := out[def.Variable]
		switch {
		case !ok && def.DefaultValue != nil:
			d, err := def.DefaultValue.Value(nil)
			if err != nil {
				return nil, fault.New(fault.Invalid, "the default value of the variable $%s cannot be read", def.Variable).Because(err)
			}
			out[def.Variable] = d
		case !ok && def.Type.NonNull:
			return nil, fault.New(fault.Invalid, "the variable $%s of type %s is not given", def.Variable, def.Type).WithFix("Add it to variables.")
		case ok:
			if problem := mismatch(schema, def.Type, v); problem != "" {
				return nil, fault.New(fault.Invalid, "the variable $%s is not of type %s: %s", def.Variable, def.Type, problem).
					WithFix("Give it a value of that type.")
			}
		}
	}
	return out, nil
}

// mismatch says why a value is not of a type, "" if nothing is wrong with it.
func mismatch(schema *ast.Schema, t *ast.Type, v any) string {
	if v == nil {
		if t.NonNull {
			return "it may not be null"
		}
		return ""
	}
	if t.Elem != nil {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, item := range list {
			if problem := mismatch(schema, t.Elem, item); problem != "" {
				return problem
			}
		}
		return ""
	}
	if def := schema.Types[t.NamedType]; def != nil && def.Kind == ast.InputObject {
		fields, _ := v.(map[string]any)
		for _, f := range def.Fields {
			if problem := mismatch(schema, f.Type, fields[f.Name]); problem != "" && (fields[f.Name] != nil || f.DefaultValue == nil) {
				return f.Name + ": " + problem
			}
		}
		return ""
	}
	if !fits(t.NamedType, v) {
		return fmt.Sprintf("%.80v is no %s", fmt.Sprint(v), t.NamedType)
	}
	return ""
}

func fits(scalar string, v any) bool {
	switch scalar {
	case "Int":
		f, ok := v.(float64)
		return ok && f == math.Trunc(f) && math.Abs(f) <= math.MaxInt32
	case "Float":
		_, ok := v.(float64)
		return ok
	case "String":
		_, ok := v.(string)
		return ok
	case "Boolean":
		_, ok := v.(bool)
		return ok
	case "ID":
		f, isNumber := v.(float64)
		_, isString := v.(string)
		return isString || isNumber && f == math.Trunc(f)
	}
	return true
}
