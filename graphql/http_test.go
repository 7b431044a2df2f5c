package graphql_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/graphql"
)

const (
	mediaResponse = "application/graphql-response+json"
	mediaJSON     = "application/json"
)

// TestGraphQLOverHTTP covers what the audits of the GraphQL-over-HTTP
// specification ask of a server, and what they leave open.
func TestGraphQLOverHTTP(t *testing.T) {
	s := serveShop(t)
	const typename = `{"query":"{ __typename }"`
	for name, c := range map[string]struct {
		method, url, accept, contentType, body string
		status                                 int
		media                                  string
		noData                                 bool
	}{
		"response media type":        {accept: mediaResponse, body: typename + `}`, status: 200, media: mediaResponse},
		"json media type":            {accept: mediaJSON, body: typename + `}`, status: 200, media: mediaJSON},
		"any media type":             {accept: "*/*", body: typename + `}`, status: 200, media: mediaJSON},
		"any application type":       {accept: "application/*", body: typename + `}`, status: 200, media: mediaJSON},
		"no accept":                  {body: typename + `}`, status: 200, media: mediaJSON},
		"preference":                 {accept: "application/json;q=0.5, application/graphql-response+json;q=0.9", body: typename + `}`, status: 200, media: mediaResponse},
		"both alike":                 {accept: "application/json, application/graphql-response+json", body: typename + `}`, status: 200, media: mediaResponse},
		"refused type":               {accept: "application/graphql-response+json;q=0, application/json", body: typename + `}`, status: 200, media: mediaJSON},
		"not acceptable":             {accept: "text/csv", body: typename + `}`, status: 406, media: mediaJSON, noData: true},
		"html by POST":               {accept: "text/html", body: typename + `}`, status: 406, media: mediaJSON, noData: true},
		"utf-8":                      {contentType: "application/json; charset=utf-8", body: `{"query":"{ __type(name: \"Run🏃Swim🏊\") { name } }"}`, status: 200},
		"other charset":              {contentType: "application/json; charset=latin1", body: typename + `}`, status: 415, noData: true},
		"no content type":            {contentType: "-", body: typename + `}`, status: 415, noData: true},
		"form content type":          {contentType: "application/x-www-form-urlencoded", body: "query={__typename}", status: 415, noData: true},
		"GET":                        {method: "GET", url: "?query=%7B__typename%7D", status: 200},
		"GET mutation":               {method: "GET", accept: mediaResponse, url: "?query=" + url.QueryEscape("mutation { __typename }"), status: 405, noData: true},
		"GET mutation of two":        {method: "GET", accept: mediaResponse, url: "?operationName=m&query=" + url.QueryEscape("query q { __typename } mutation m { __typename }"), status: 405, noData: true},
		"GET query of two":           {method: "GET", accept: mediaResponse, url: "?operationName=q&query=" + url.QueryEscape("query q { __typename } mutation m { __typename }"), status: 200},
		"GET variables":              {method: "GET", accept: mediaResponse, url: "?variables=" + url.QueryEscape(`{"n":"Entity"}`) + "&query=" + url.QueryEscape("query T($n: String!) { __type(name: $n) { name } }"), status: 200},
		"GET malformed variables":    {method: "GET", accept: mediaResponse, url: "?variables=%7B&query=%7B__typename%7D", status: 400, noData: true},
		"GET malformed URL":          {method: "GET", accept: mediaResponse, url: "?query=%zz", status: 400, noData: true},
		"GET nothing":                {method: "GET", accept: mediaResponse, status: 400, noData: true},
		"PUT":                        {method: "PUT", body: typename + `}`, status: 405, noData: true},
		"DELETE":                     {method: "DELETE", status: 405, noData: true},
		"subscription by POST":       {accept: mediaResponse, body: `{"query":"subscription { catalogChanged { many } }"}`, status: 400, noData: true},
		"no body":                    {status: 400, noData: true},
		"no query":                   {accept: mediaResponse, body: `{"notquery":"{ __typename }"}`, status: 400, noData: true},
		"query in capitals":          {accept: mediaResponse, body: `{"QUERY":"{ __typename }"}`, status: 400, noData: true},
		"query object":               {body: `{"query":{"an":"object"}}`, status: 400, noData: true},
		"query number":               {body: `{"query":0}`, status: 400, noData: true},
		"query boolean":              {body: `{"query":false}`, status: 400, noData: true},
		"query array":                {body: `{"query":["a"]}`, status: 400, noData: true},
		"operationName object":       {body: typename + `,"operationName":{}}`, status: 400, noData: true},
		"operationName number":       {body: typename + `,"operationName":0}`, status: 400, noData: true},
		"operationName boolean":      {body: typename + `,"operationName":false}`, status: 400, noData: true},
		"operationName array":        {body: typename + `,"operationName":[]}`, status: 400, noData: true},
		"operationName string":       {accept: mediaResponse, body: `{"query":"query Q { __typename }","operationName":"Q"}`, status: 200},
		"operationName string, json": {accept: mediaJSON, body: `{"query":"query Q { __typename }","operationName":"Q"}`, status: 200},
		"operationName unknown":      {accept: mediaResponse, body: `{"query":"query Q { __typename }","operationName":"X"}`, status: 400, noData: true},
		"operationName missing":      {accept: mediaResponse, body: `{"query":"query Q { __typename } query R { __typename }"}`, status: 400, noData: true},
		"nulls":                      {accept: mediaResponse, body: typename + `,"operationName":null,"variables":null,"extensions":null}`, status: 200},
		"nulls, json":                {accept: mediaJSON, body: typename + `,"operationName":null,"variables":null,"extensions":null}`, status: 200},
		"variables string":           {body: typename + `,"variables":"a"}`, status: 400, noData: true},
		"variables number":           {body: typename + `,"variables":0}`, status: 400, noData: true},
		"variables boolean":          {body: typename + `,"variables":false}`, status: 400, noData: true},
		"variables array":            {body: typename + `,"variables":[]}`, status: 400, noData: true},
		"variables map":              {accept: mediaResponse, body: `{"query":"query T($n: String!) { __type(name: $n) { name } }","variables":{"n":"Query"}}`, status: 200},
		"variables map, json":        {accept: mediaJSON, body: `{"query":"query T($n: String!) { __type(name: $n) { name } }","variables":{"n":"Query"}}`, status: 200},
		"extensions string":          {body: typename + `,"extensions":"a"}`, status: 400, noData: true},
		"extensions number":          {body: typename + `,"extensions":0}`, status: 400, noData: true},
		"extensions boolean":         {body: typename + `,"extensions":false}`, status: 400, noData: true},
		"extensions array":           {body: typename + `,"extensions":[]}`, status: 400, noData: true},
		"extensions map":             {accept: mediaResponse, body: typename + `,"extensions":{"some":"value"}}`, status: 200},
		"extensions map, json":       {accept: mediaJSON, body: typename + `,"extensions":{"some":"value"}}`, status: 200},
		"no JSON":                    {accept: mediaResponse, body: `{ "not a JSON`, status: 400, noData: true},
		"no JSON, json":              {accept: mediaJSON, body: `{ "not a JSON`, status: 400, noData: true},
		"batch":                      {accept: mediaJSON, body: `[` + typename + `}]`, status: 400, noData: true},
		"parsing failure":            {accept: mediaResponse, body: `{"query":"{"}`, status: 400, noData: true},
		"parsing failure, json":      {accept: mediaJSON, body: `{"query":"{"}`, status: 200, noData: true},
		"validation failure":         {accept: mediaResponse, body: `{"query":"{ nonesuch }"}`, status: 400, noData: true},
		"validation failure, json":   {accept: mediaJSON, body: `{"query":"{ nonesuch }"}`, status: 200, noData: true},
		"coercion failure":           {accept: mediaResponse, body: `{"query":"query C($id: ID!) { __typename }","variables":{"id":null}}`, status: 400, noData: true},
		"coercion failure, json":     {accept: mediaJSON, body: `{"query":"query C($id: ID!) { __typename }","variables":{"id":null}}`, status: 200, noData: true},
		"body of 4 MiB":              {accept: mediaResponse, body: `{"query":"` + strings.Repeat(" ", 4<<20-12) + `"}`, status: 400, noData: true},
		"body above 4 MiB":           {accept: mediaResponse, body: `{"query":"` + strings.Repeat(" ", 4<<20-11) + `"}`, status: 413, noData: true},
	} {
		t.Run(name, func(t *testing.T) {
			method, header := c.method, http.Header{"Authorization": {"Bearer reader"}, "Content-Type": {"application/json"}}
			if method == "" {
				method = http.MethodPost
			}
			if c.accept != "" {
				header.Set("Accept", c.accept)
			}
			switch c.contentType {
			case "":
			case "-":
				header.Del("Content-Type")
			default:
				header.Set("Content-Type", c.contentType)
			}
			a := s.do(method, c.url, header, c.body)
			if a.status != c.status {
				t.Errorf("status %d, want %d: %s", a.status, c.status, a.raw)
			}
			media, charset, _ := strings.Cut(a.header.Get("Content-Type"), ";")
			if c.media != "" && media != c.media || !strings.Contains(charset, "utf-8") {
				t.Errorf("content type %s", a.header.Get("Content-Type"))
			}
			if c.noData != (a.Data == nil) || c.noData != (len(a.Errors) > 0) {
				t.Errorf("answer %s", a.raw)
			}
			for _, e := range a.Errors {
				if e.Extensions.Code != "invalid" || e.Extensions.Fix == "" {
					t.Errorf("error without code or fix: %s", a.raw)
				}
			}
			if a.status == http.StatusMethodNotAllowed && a.header.Get("Allow") == "" {
				t.Error("405 without Allow")
			}
		})
	}
}

func TestUnauthenticated(t *testing.T) {
	s := serveShop(t)
	for _, accept := range []string{mediaResponse, mediaJSON, ""} {
		a := s.send(http.MethodPost, "", "wrong", accept, `{"query":"{ whoami { subject } }"}`)
		if a.status != 401 || a.header.Get("WWW-Authenticate") == "" || len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "unauthenticated" {
			t.Errorf("%d %v %s", a.status, a.header, a.raw)
		}
	}
}

func TestCrossOrigin(t *testing.T) {
	s := serveShop(t, func(c *graphql.Config) { c.Origins = []string{"https://portal.example.com"} })
	ask := http.Header{"Origin": {"https://portal.example.com"}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"authorization"}}
	a := s.do(http.MethodOptions, "", ask, "")
	if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != "https://portal.example.com" || !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("%d %v", a.status, a.header)
	}
	for origin, want := range map[string]string{"https://portal.example.com": "https://portal.example.com", "https://evil.example.com": "", "null": ""} {
		a := s.do(http.MethodPost, "", http.Header{"Origin": {origin}, "Authorization": {"Bearer reader"}, "Content-Type": {"application/json"}}, `{"query":"{__typename}"}`)
		if a.status != http.StatusOK || a.header.Get("Access-Control-Allow-Origin") != want {
			t.Errorf("%s: %d %v", origin, a.status, a.header)
		}
		ask.Set("Origin", origin)
		if a := s.do(http.MethodOptions, "", ask, ""); a.header.Get("Access-Control-Allow-Origin") != want || want == "" && a.header.Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("%s may ask: %v", origin, a.header)
		}
	}
}

// stuck is a source that answers when it is no longer waited for.
type stuck struct{ ingestion }

func (stuck) Refresh(ctx context.Context, _ string) (*catalog.RefreshResult, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestTimeout(t *testing.T) {
	s := serveRules(t, stuck{}, func(c *graphql.Config) { c.Timeout = 50 * time.Millisecond })
	a := s.post("admin", `mutation {refresh(source: "test") {changed}}`, nil)
	if len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "unavailable" || a.Errors[0].Extensions.Fix == "" {
		t.Errorf("%d %s", a.status, a.raw)
	}
}
