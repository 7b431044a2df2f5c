package render

import (
	"bytes"
	"encoding/json"
	"io"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// JSON writes a JSON text, indented, its keys in the order they came in.
// Characters that would act on a terminal are written as escapes.
func JSON(w io.Writer, raw json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return fault.New(fault.Internal, "the answer is not JSON").Because(err)
	}
	b.WriteByte('\n')
	_, err := w.Write(reveal(b.Bytes(), escapeJSON))
	return err
}

// YAML writes a JSON text as YAML, its keys in the order they came in.
// Characters that would act on a terminal are written as escapes.
func YAML(w io.Writer, raw json.RawMessage) error {
	v, err := entity.ParseJSON(raw)
	if err != nil {
		return fault.New(fault.Internal, "the answer is not JSON").Because(err)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(node(v)); err != nil {
		return err
	}
	if err := enc.Close(); err != nil {
		return err
	}
	_, err = w.Write(reveal(b.Bytes(), escapeYAML))
	return err
}

// node gives a value as YAML would have it written.
func node(v entity.Value) *yaml.Node {
	switch v := v.(type) {
	case *entity.Object:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for key, value := range v.All() {
			n.Content = append(n.Content, scalar(key), node(value))
		}
		return n
	case entity.List:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := range v {
			n.Content = append(n.Content, node(v[i].Value))
		}
		return n
	case float64:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: number(v)}
	default:
		return scalar(v)
	}
}

// number is a JSON number as YAML reads it back; a JSON text holds none that
// is not finite, but one beyond the doubles reads as an infinity.
func number(f float64) string {
	switch s := entity.FormatNumber(f); s {
	case "Infinity":
		return ".inf"
	case "-Infinity":
		return "-.inf"
	default:
		return s
	}
}

func scalar(v any) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(v); err != nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	if mustQuote(v) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
