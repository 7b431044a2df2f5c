package value_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/secrets/value"
)

const text = "hunter2-canary"

// holder holds a value in the ways that programs do.
type holder struct {
	Name     string
	Value    value.Value
	Pointer  *value.Value
	Any      any
	List     []value.Value
	Map      map[string]value.Value
	unshown  value.Value
	embedded struct{ value.Value }
}

func held() holder {
	v := value.New([]byte(text))
	h := holder{Name: "db", Value: v, Pointer: &v, Any: v, List: []value.Value{v}, Map: map[string]value.Value{"password": v}, unshown: v}
	h.embedded.Value = v
	return h
}

// shows tells whether a text holds the value, also as bytes or hexadecimal.
func shows(s string) bool {
	return strings.Contains(s, text) || strings.Contains(s, "canary") || strings.Contains(s, fmt.Sprintf("%x", text)) || strings.Contains(strings.ToLower(s), fmt.Sprintf("%x", "canary")) ||
		strings.Contains(s, "99 97 110 97 114 121") || strings.Contains(s, "0x63, 0x61, 0x6e, 0x61, 0x72, 0x79")
}

func TestPrintsAsAMask(t *testing.T) {
	h := held()
	err := fmt.Errorf("cannot use %v: %w", h.Value, errors.Join(fmt.Errorf("%+v", h), fmt.Errorf("%#v", &h)))
	for name, arg := range map[string]any{"value": h.Value, "pointer": h.Pointer, "struct": h, "pointer to a struct": &h, "list": h.List, "map": h.Map, "embedded": h.embedded, "error": err, "any": []any{h.Any, &h}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%q", "%d", "%p", "% x", "%08.3f", "%t", "%c", "%U", "%T", "%b", "%o", "%e", "%w", "%10v", "%-40s|"} {
			if got := fmt.Sprintf(verb, arg); shows(got) {
				t.Errorf("%s of %s: %s", verb, name, got)
			}
		}
		if got := fmt.Sprint(arg) + fmt.Sprintln(arg) + string(fmt.Append(nil, arg)); shows(got) {
			t.Errorf("printed %s: %s", name, got)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		if got := fmt.Sprintf(verb, h.Value); got != "•••" {
			t.Errorf("%s gives %q", verb, got)
		}
	}
	if h.Value.String() != "•••" || h.Value.GoString() != "•••" || err.Error() == "" {
		t.Error(h.Value.String(), h.Value.GoString())
	}
}

func TestIsNotLogged(t *testing.T) {
	h := held()
	var out bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		log := slog.New(handler).With("with", h.Value).WithGroup("g")
		log.Info("value", "value", h.Value, "pointer", h.Pointer, "struct", h, "list", h.List, "map", h.Map, "any", []any{h.Any})
		log.Error("error", "error", fmt.Errorf("%v", h), slog.Any("group", slog.GroupValue(slog.Any("v", h.Value))))
	}
	if got := out.String(); shows(got) || !strings.Contains(got, "•••") {
		t.Error(got)
	}
	if kv := attribute.Stringer("credential", h.Value); shows(kv.Value.String()) {
		t.Error(kv.Value.String())
	}
}

func TestIsNotMarshalled(t *testing.T) {
	h := held()
	visible := struct {
		Name  string
		Value value.Value
	}{"db", h.Value}
	for name, arg := range map[string]any{"value": h.Value, "pointer": h.Pointer, "struct": visible, "list": h.List, "map": h.Map} {
		var binary bytes.Buffer
		for format, do := range map[string]func() ([]byte, error){
			"JSON": func() ([]byte, error) { return json.Marshal(arg) }, "indented JSON": func() ([]byte, error) { return json.MarshalIndent(arg, "", " ") },
			"XML": func() ([]byte, error) { return xml.Marshal(arg) },
			"gob": func() ([]byte, error) { err := gob.NewEncoder(&binary).Encode(arg); return binary.Bytes(), err },
			"YAML": func() (out []byte, err error) {
				defer func() {
					if p := recover(); p != nil {
						err = fmt.Errorf("%v", p)
					}
				}()
				return yaml.Marshal(arg)
			},
		} {
			if out, err := do(); err == nil || shows(string(out)) || shows(err.Error()) {
				t.Errorf("%s of %s: %q, %v", format, name, out, err)
			}
		}
	}
	if _, err := h.Value.MarshalText(); err == nil {
		t.Error("text was given")
	}
	if _, err := h.Value.MarshalBinary(); err == nil {
		t.Error("bytes were given")
	}
}

// TestPanicsShowNothing has a program of its own panic with a value in its
// hands, and in its arguments.
func TestPanicsShowNothing(t *testing.T) {
	if os.Getenv("VALUE_PANICS") != "" {
		panicWith(held(), value.New([]byte(text)))
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestPanicsShowNothing$")
	cmd.Env = append(os.Environ(), "VALUE_PANICS=1", "GOTRACEBACK=all")
	out, err := cmd.CombinedOutput()
	if err == nil || shows(string(out)) || !strings.Contains(string(out), "panicWith") {
		t.Errorf("%v: %s", err, out)
	}
}

//go:noinline
func panicWith(h holder, v value.Value) {
	defer func() { panic(fmt.Errorf("again: %v %v", recover(), v)) }()
	panic(h)
}

func TestWipe(t *testing.T) {
	secret := []byte(text)
	v := value.New(secret)
	other := v
	got := ""
	other.Reveal(func(b []byte) { got = string(b) })
	if got != text || v.IsZero() {
		t.Fatal("not held")
	}
	v.Wipe()
	v.Wipe()
	called := false
	other.Reveal(func(b []byte) { called = len(b) > 0 })
	if called || !other.IsZero() || !bytes.Equal(secret, make([]byte, len(text))) {
		t.Errorf("after Wipe: %v %q", called, secret)
	}
	var zero value.Value
	zero.Wipe()
	zero.Reveal(func([]byte) { t.Error("the zero Value holds something") })
	if !zero.IsZero() || !value.New(nil).IsZero() || zero.String() != "•••" {
		t.Error("the zero Value is not zero")
	}
}
