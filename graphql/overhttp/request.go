package overhttp

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

const (
	mediaResponse = "application/graphql-response+json"
	mediaJSON     = "application/json"
	mediaHTML     = "text/html"
)

// negotiate picks the media type of the answer, "" if none is acceptable. The
// older application/json stands in where the client leaves the choice.
func negotiate(r *http.Request) string {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return mediaJSON
	}
	best, quality, rank := "", 0.0, 0
	for part := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if s, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(s, 64); err != nil {
				continue
			}
		}
		media, precedence := served(media, r.Method)
		if precedence > 0 && (q > quality || q == quality && precedence > rank) {
			best, quality, rank = media, q, precedence
		}
	}
	return best
}

// served is the media type that an accepted range stands for, and how much it
// is preferred among equals.
func served(media, method string) (string, int) {
	switch {
	case media == mediaHTML && method == http.MethodGet:
		return mediaHTML, 4
	case media == mediaResponse:
		return mediaResponse, 3
	case media == mediaJSON:
		return mediaJSON, 2
	case media == "application/*" || media == "*/*":
		return mediaJSON, 1
	}
	return "", 0
}

// badRequest is a request that is no GraphQL request.
type badRequest struct {
	status int
	err    *fault.Error
}

func bad(status int, format string, args ...any) *badRequest {
	return &badRequest{status, fault.New(fault.Invalid, format, args...).
		WithFix(`Send {"query": "…", "operationName": "…", "variables": {…}} as application/json, or query, operationName and variables in the URL.`)}
}

func (h *Handler) read(w http.ResponseWriter, r *http.Request) (*Params, *badRequest) {
	if r.Method == http.MethodGet {
		return fromURL(r.URL.RawQuery)
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != mediaJSON {
		return nil, bad(http.StatusUnsupportedMediaType, "the request's Content-Type is not application/json")
	}
	if cs := params["charset"]; cs != "" && !strings.EqualFold(cs, "utf-8") {
		return nil, bad(http.StatusUnsupportedMediaType, "the request's charset is not utf-8")
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, bad(http.StatusUnsupportedMediaType, "the request's Content-Encoding %q is not understood", enc)
	}
	limit := or(h.MaxBody, 4<<20)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return nil, bad(http.StatusRequestEntityTooLarge, "the request's body is larger than %d bytes", limit)
	case err != nil:
		return nil, bad(http.StatusBadRequest, "the request's body could not be read to its end")
	}
	return fromJSON(body)
}

func fromURL(raw string) (*Params, *badRequest) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, bad(http.StatusBadRequest, "the URL's query is malformed")
	}
	fields := map[string]json.RawMessage{}
	for _, name := range []string{"query", "operationName"} {
		if values.Has(name) {
			fields[name], _ = json.Marshal(values.Get(name)) // a string always encodes
		}
	}
	for _, name := range []string{"variables", "extensions"} {
		if v := values.Get(name); v != "" {
			fields[name] = json.RawMessage(v)
		}
	}
	return fromFields(fields)
}

func fromJSON(body []byte) (*Params, *badRequest) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &fields); err != nil {
		if strings.HasPrefix(strings.TrimLeft(string(body[:min(len(body), 64)]), " \t\r\n"), "[") {
			return nil, bad(http.StatusBadRequest, "batches of GraphQL requests are not served")
		}
		return nil, bad(http.StatusBadRequest, "the request's body is not a JSON object")
	}
	return fromFields(fields)
}

// maxVariables is the size of the variables, and of the extensions, as JSON:
// no question needs as much, and what holds more is costly to look through.
const maxVariables = 256 << 10

func fromFields(fields map[string]json.RawMessage) (*Params, *badRequest) {
	var p Params
	for _, f := range []struct {
		name, want string
		into       any
	}{
		{"query", "a string", &p.Query},
		{"operationName", "a string", &p.OperationName},
		{"variables", "a JSON object", &p.Variables},
		{"extensions", "a JSON object", &p.Extensions},
	} {
		if len(fields[f.name]) > maxVariables && f.want == "a JSON object" {
			return nil, bad(http.StatusBadRequest, "the parameter %q is %d bytes long, the limit is %d", f.name, len(fields[f.name]), maxVariables)
		}
		if raw, ok := fields[f.name]; ok && json.Unmarshal(raw, f.into) != nil {
			return nil, bad(http.StatusBadRequest, "the parameter %q is not %s", f.name, f.want)
		}
	}
	if p.Query == "" && p.Extensions["persistedQuery"] == nil {
		return nil, bad(http.StatusBadRequest, `the parameter "query" is missing or empty`)
	}
	return &p, nil
}
