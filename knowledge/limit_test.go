package knowledge_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/knowledge"
)

// TestLimitIsFollowedWithoutACommit restarts with another limit of a source's
// files: documents and code that were too large are read, and no longer once they
// are again.
func TestLimitIsFollowedWithoutACommit(t *testing.T) {
	r := newRoom(t, nil, map[string]map[string]string{"wide": {
		"docs/wide.md": "# Wide\n\nAn albatross glides for hours.\n" + strings.Repeat("\nIt does so.\n", 100),
		"wide.py":      "def albatross(): pass\n" + strings.Repeat("# it glides\n", 100)}})
	found := func() (documents, code int) {
		return len(r.search(knowledge.SearchKnowledgeInput{Query: "albatross glides for hours"}).Hits), len(r.find(knowledge.SearchCodeInput{Query: "albatross"}).Hits)
	}
	for _, step := range []struct {
		limit int64
		want  int
	}{{500, 0}, {5000, 1}, {500, 0}} {
		r.stop()
		r.sources["wide"].Limit(step.limit)
		r.start()
		if documents, code := found(); documents != step.want || min(code, 1) != step.want {
			t.Errorf("of files of up to %d bytes %d documents and %d programs are found", step.limit, documents, code)
		}
	}
}
