package backstage_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestAnswerOverItsBound has entities that each may be read, and together do
// not fit into one answer.
func TestAnswerOverItsBound(t *testing.T) {
	filler := strings.Repeat("x", 800)
	var list []string
	for i := range 3 {
		list = append(list, fmt.Sprintf(`{"kind":"Component","metadata":{"name":"n%d","etag":"1"}}`, i))
	}
	var asked []int
	s := stranger(t, says(`{"items":[`+strings.Join(list, ",")+`],"totalItems":3,"pageInfo":{}}`), func(w http.ResponseWriter, r *http.Request) {
		var in struct{ EntityRefs []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		asked = append(asked, len(in.EntityRefs))
		var items []string
		for _, ref := range in.EntityRefs {
			items = append(items, fmt.Sprintf(`{"kind":"Component","metadata":{"name":%q,"title":%q}}`, strings.TrimPrefix(ref, "component:default/"), filler))
		}
		says(`{"items":[`+strings.Join(items, ",")+`]}`)(w, r)
	})
	s.Bound(2000)
	readAll(t, s, "")
	if !slices.Equal(asked, []int{3, 1}) {
		t.Errorf("asked for %v entities", asked)
	}
}
