package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// bind fills an operation's input from a request. What is not a parameter is
// refused by its name.
func bind(r *http.Request, params []param, in reflect.Value) error {
	q, err := queryOf(r)
	if err != nil {
		return err
	}
	if err := unknown("query parameter", names(params, inQuery), q); err != nil {
		return err
	}
	body, err := bodyOf(r, params)
	if err != nil {
		return err
	}
	for _, p := range params {
		field := in.FieldByIndex(p.index)
		switch p.in {
		case inPath:
			err = fromText(p, []string{r.PathValue(p.name)}, field)
		case inQuery:
			if values := q[p.name]; len(values) > 0 {
				err = fromText(p, values, field)
			} else if p.required && field.Kind() != reflect.String {
				err = missing(p)
			}
		case inBody:
			if raw, ok := body[p.name]; ok {
				err = fromJSON(p.name, raw, field)
			} else if p.required && field.Kind() != reflect.String {
				err = missing(p)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func missing(p param) error {
	return fault.New(fault.Invalid, "%s is not given", p.name).WithFix("Give %s: %s.", p.name, orElse(p.description, "it is required"))
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// queryOf reads the query of a URL, which must be well formed.
func queryOf(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the query of the URL is malformed").WithFix("Percent-encode its values: %%, & and ; among them.")
	}
	return q, nil
}

// names are the parameters at a place.
func names(params []param, in place) []string {
	var out []string
	for _, p := range params {
		if p.in == in {
			out = append(out, p.name)
		}
	}
	return out
}

// unknown refuses keys that are not known, and names the nearest that is.
func unknown[V any](what string, known []string, given map[string]V) error {
	var bad []string
	for k := range given {
		if !slices.Contains(known, k) {
			bad = append(bad, k)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	slices.Sort(bad)
	f := fault.New(fault.Invalid, "there is no %s %s", what, clip(bad[0]))
	switch near := nearest(bad[0], known); {
	case near != "":
		f = f.WithFix("Did you mean %s?", near)
	case len(known) == 0:
		f = f.WithFix("Leave it out: there are none here.")
	default:
		f = f.WithFix("There are: %s.", strings.Join(known, ", "))
	}
	return f.WithDetail("known", known)
}

// clip shortens what a caller sent for showing it again.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return strconv.Quote(s)
}

// fromText sets a field from the texts of a query or a path. Lists are given
// by repeating the parameter, or, but for filters, with commas; everything
// that has no plain text form is given as JSON.
func fromText(p param, values []string, field reflect.Value) error {
	if field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.String {
		field.Set(reflect.ValueOf(list(p.name, values)))
		return nil
	}
	if len(values) > 1 {
		return fault.New(fault.Invalid, "%s is given %d times", p.name, len(values)).WithFix("Give it once.")
	}
	if field.Kind() == reflect.String {
		field.SetString(values[0])
		return nil
	}
	if values[0] == "" {
		return nil
	}
	return fromJSON(p.name, []byte(values[0]), field)
}

func list(name string, values []string) []string {
	if name == "filter" {
		return values
	}
	var out []string
	for _, v := range values {
		for item := range strings.SplitSeq(v, ",") {
			if item = strings.TrimSpace(item); item != "" {
				out = append(out, item)
			}
		}
	}
	return out
}

// bodyOf reads a JSON object, key by key. An absent body is an empty one.
func bodyOf(r *http.Request, params []param) (map[string]json.RawMessage, error) {
	known := names(params, inBody)
	if len(known) == 0 {
		return nil, nil
	}
	body, err := object(r)
	if err != nil {
		return nil, err
	}
	return body, unknown("field", known, body)
}

// object reads the request's body as a JSON object.
func object(r *http.Request) (map[string]json.RawMessage, error) {
	data, err := read(r)
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return nil, err
	}
	if kind := r.Header.Get("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
			return nil, &httpFault{status: http.StatusUnsupportedMediaType,
				fault: fault.New(fault.Invalid, "the body is of type %s, not application/json", clip(kind)).WithFix("Send JSON with Content-Type: application/json.")}
		}
	}
	if !json.Valid(data) {
		return nil, fault.New(fault.Invalid, "the body is not valid JSON").WithFix("Send one JSON object.")
	}
	var out map[string]json.RawMessage
	if json.Unmarshal(data, &out) != nil || out == nil {
		return nil, fault.New(fault.Invalid, "the body is no JSON object").WithFix("Send one JSON object.")
	}
	return out, nil
}

// read reads a body within its bound.
func read(r *http.Request) ([]byte, error) {
	tooLarge := &httpFault{status: http.StatusRequestEntityTooLarge,
		fault: fault.New(fault.Invalid, "the body is larger than %d bytes", MaxBody).WithFix("Ask in parts.")}
	if r.ContentLength > MaxBody {
		return nil, tooLarge
	}
	// Room for what is said to come, if it is no more than any request needs.
	data := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), 64<<10)+bytes.MinRead))
	_, err := data.ReadFrom(r.Body)
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case err != nil:
		return nil, fault.New(fault.Invalid, "the body ended too early").Because(err)
	}
	return data.Bytes(), nil
}

// fromJSON sets a field from JSON; name is what errors call it. Null leaves
// the field as it is.
func fromJSON(name string, raw []byte, field reflect.Value) error {
	if field.Type() == reflect.TypeFor[json.RawMessage]() {
		if !json.Valid(raw) {
			return fault.New(fault.Invalid, "%s is not valid JSON", name)
		}
		field.SetBytes(bytes.Clone(raw))
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(field.Addr().Interface())
	if _, end := dec.Token(); err == nil && end == io.EOF {
		return nil
	}
	return fault.New(fault.Invalid, "%s", mismatch(name, raw, field.Type(), err))
}

// mismatch says in words what is wrong with a value.
func mismatch(name string, raw []byte, want reflect.Type, err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field != "" {
			name += "." + wrong.Field
		}
		want = wrong.Type
	} else if err != nil && strings.HasPrefix(err.Error(), "json: unknown field ") {
		return fmt.Sprintf("%s has no field %s", name, strings.TrimPrefix(err.Error(), "json: unknown field "))
	}
	return fmt.Sprintf("%s must be %s, not %s", name, words(want), clip(string(raw)))
}

// words describes a type.
func words(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return words(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Int32:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// nearest is the known name that is at most a third of it away, "" for none.
func nearest(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k), least); d < least || d == least && best == "" {
			best, least = k, d
		}
	}
	return best
}

// distance is the number of edits between two words, or more than most.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
