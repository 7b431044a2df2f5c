package rest_test

import (
	"net/http"
	"testing"
)

func TestAnalyzeLocationTellsWhatIsThere(t *testing.T) {
	c := serve(t, []string{shop})
	analyze := func(as, target string) string {
		t.Helper()
		a := c.as(as).post("/api/catalog/analyze-location", `{"location":{"type":"url","target":"`+target+`"}}`)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", target, a.status, a.raw)
		}
		return a.raw
	}
	const file = "https://git.example.com/acme/catalog/catalog-info.yaml"
	for _, target := range []string{"https://git.example.com/acme/catalog", "https://git.example.com/acme/catalog.git", "https://git.example.com/acme/catalog/", file} {
		contains(t, analyze("owner", target), `"location":{"type":"url","target":"`+file+`"},"isRegistered":true,"entity":{`, `"name":"checkout"`, `"generateEntities":[]`)
	}
	contains(t, analyze("owner", "https://git.example.com/acme/cat"), `"existingEntityFiles":[]`, `"metadata":{"name":"cat"}`)
	if a := c.as("stranger").post("/api/catalog/analyze-location", `{"location":{"type":"url","target":"`+file+`"}}`); a.status != http.StatusForbidden {
		t.Errorf("a stranger is answered %d %s", a.status, a.raw)
	}
}

func TestBackstageRefusesWhatIsNotDescribed(t *testing.T) {
	c := serve(t, []string{shop})
	for path, want := range map[string]string{
		"/api/catalog/entities?surprise=1":            "Unknown query parameter 'surprise'",
		"/api/catalog/entities?filter=":               "Empty value found for query parameter 'filter'",
		"/api/catalog/entities?limit=1&limit=2":       "request/query/limit must be integer",
		"/api/catalog/entities/by-query?limit=-1":     `request/query/limit must be \u003e= 0`,
		"/api/catalog/entities/by-query?totalItems=x": "allowed values: include, exclude",
	} {
		a := c.get(path)
		if a.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, a.status, a.raw)
		}
		contains(t, a.raw, want)
	}
	contains(t, c.get("/api/catalog/entities?fields[]=kind&filter[0]=kind=component").raw, `{"kind":"Component"}`)
}
