package entity

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// MarshalJSON writes the object with its keys in order.
func (o *Object) MarshalJSON() ([]byte, error) { return AppendJSON(nil, o), nil }

// UnmarshalJSON reads a JSON object; positions stay unknown.
func (o *Object) UnmarshalJSON(data []byte) error {
	v, err := ParseJSON(data)
	if err != nil {
		return err
	}
	p, ok := v.(*Object)
	if !ok {
		return &json.UnmarshalTypeError{Value: "value", Offset: 0}
	}
	*o = *p
	return nil
}

// MarshalJSON writes the items.
func (l List) MarshalJSON() ([]byte, error) { return AppendJSON(nil, l), nil }

// AppendJSON appends v as compact JSON. NaN and infinities become null and
// numbers are written as JavaScript writes them, so that bodies equal those
// of a Backstage back end.
func AppendJSON(b []byte, v Value) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case float64:
		return appendNumber(b, v)
	case string:
		return AppendString(b, v)
	case *Object:
		return appendObject(b, v)
	case List:
		b = append(b, '[')
		for i := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJSON(b, v[i].Value)
		}
		return append(b, ']')
	default:
		enc, err := json.Marshal(v)
		if err != nil {
			return append(b, "null"...)
		}
		return append(b, enc...)
	}
}

func appendObject(b []byte, o *Object) []byte {
	if o == nil {
		return append(b, "null"...)
	}
	b = append(b, '{')
	for i := range o.Members {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, o.Members[i].Key)
		b = append(b, ':')
		b = AppendJSON(b, o.Members[i].Value)
	}
	return append(b, '}')
}

func appendNumber(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	return append(b, FormatNumber(f)...)
}

// FormatNumber writes a number as ECMAScript's Number::toString does.
func FormatNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0"
	}
	if a := math.Abs(f); a >= 1e21 || a < 1e-6 {
		s := strconv.FormatFloat(f, 'e', -1, 64)
		// Go pads the exponent to two digits, JavaScript does not.
		if n := len(s); n >= 4 && s[n-2] == '0' && (s[n-3] == '+' || s[n-3] == '-') {
			s = s[:n-2] + s[n-1:]
		}
		return s
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string, escaping what JSON.stringify
// escapes and nothing else; broken UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			b = appendEscape(b, c)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(b, s[start:i]...)
			b = append(b, "\ufffd"...)
			i++
			start = i
			continue
		}
		i += n
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	default:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}

// ParseJSON reads one JSON value as JSON.parse does: of duplicate keys the
// last wins, anything after the value is an error.
func ParseJSON(data []byte) (Value, error) {
	if !json.Valid(data) {
		var v any
		return nil, json.Unmarshal(data, &v)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return parseValue(dec)
}

func parseValue(dec *json.Decoder) (Value, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return parseObject(dec)
		}
		return parseList(dec)
	case json.Number:
		// A number beyond the doubles is an infinity, as in JavaScript.
		f, _ := strconv.ParseFloat(t.String(), 64)
		return f, nil
	default:
		return tok, nil
	}
}

func parseObject(dec *json.Decoder) (Value, error) {
	o := &Object{}
	seen := map[string]int{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := tok.(string)
		v, err := parseValue(dec)
		if err != nil {
			return nil, err
		}
		if i, dup := seen[key]; dup {
			o.Members[i].Value = v
			continue
		}
		seen[key] = len(o.Members)
		o.Members = append(o.Members, Member{Key: key, Value: v})
	}
	_, err := dec.Token()
	return o, err
}

func parseList(dec *json.Decoder) (Value, error) {
	l := List{}
	for dec.More() {
		v, err := parseValue(dec)
		if err != nil {
			return nil, err
		}
		l = append(l, Item{Value: v})
	}
	_, err := dec.Token()
	return l, err
}
