package knowledge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/knowledge"
)

func TestCodeFollowsChanges(t *testing.T) {
	r := newRoom(t, nil, codeShop())
	first := r.find(knowledge.SearchCodeInput{Query: "charge_back"}).Hits[0].Source.Commit
	r.write("ledger", map[string]string{"book.py": "def book(entry):\n    refund(entry)\n", "new.py": "def charge_back(): pass\n"})
	out := r.find(knowledge.SearchCodeInput{Query: "charge_back"})
	if places(out) != "ledger/new.py:1" || out.Hits[0].Source.Commit == first {
		t.Errorf("%+v", out)
	}
	if got := places(r.find(knowledge.SearchCodeInput{Query: "refund"})); got != "ledger/book.py:2" {
		t.Errorf("found %s", got)
	}
	reads := r.sources["checkout"].Reads("pay/pay.go")
	r.stop()
	r.start()
	if got := places(r.find(knowledge.SearchCodeInput{Query: "charge_back"})); got != "ledger/new.py:1" {
		t.Errorf("after a restart: %s", got)
	}
	if again := r.sources["checkout"].Reads("pay/pay.go"); again != reads {
		t.Errorf("a restart read a file anew: %d reads, then %d", reads, again)
	}
	r.write("ledger", map[string]string{"new.py": ""})
	if got := places(r.find(knowledge.SearchCodeInput{Query: "charge_back"})); got != "" {
		t.Errorf("a removed file is found: %s", got)
	}
	r.halt()
	if err := r.code.Drop(t.Context(), "ledger"); err != nil {
		t.Fatal(err)
	}
	if got := places(r.find(knowledge.SearchCodeInput{Query: "refund"})); got != "" {
		t.Errorf("a dropped source is found: %s", got)
	}
}

// TestCodeReadsNoMoreThanItMay: limits hold for what is read, and changes of
// the configuration are heeded.
func TestCodeReadsNoMoreThanItMay(t *testing.T) {
	files := map[string]string{"catalog-info.yaml": service("many", ""), "large.go": "// marker\n" + strings.Repeat("x\n", 2000)}
	for i := range 40 {
		files[fmt.Sprintf("src/f%02d.go", i)] = "// marker " + strings.Repeat("y\n", 200)
		files[fmt.Sprintf("docs/f%02d.txt", i)] = "marker " + strings.Repeat("z\n", 200)
	}
	r := newRoomOf(t, nil, map[string]map[string]string{"many": files}, knowledge.CodeConfig{MaxFileBytes: 3000, MaxRepositoryBytes: 25_000})
	hits, _ := r.pages(knowledge.SearchCodeInput{Query: "marker", Limit: 50})
	if len(hits) != 51 { // all programs, and as much documentation as then fits
		t.Errorf("%d files are searched", len(hits))
	}
	for _, h := range hits {
		if h.Source.Path == "large.go" {
			t.Error("a large file is searched")
		}
	}
	read := 0
	for at, text := range files {
		read += len(text) * min(r.sources["many"].Reads(at), 1)
	}
	if read > 25_000+3_000 {
		t.Errorf("%d bytes were read", read)
	}
	if out := r.find(knowledge.SearchCodeInput{Query: "marker"}); out.Unsearched != 1 || out.Searched != 1 {
		t.Errorf("%+v", out)
	}
	r.stop()
	r.codeCfg = knowledge.CodeConfig{}
	r.start()
	if hits, _ := r.pages(knowledge.SearchCodeInput{Query: "marker", Limit: 50}); len(hits) != 81 {
		t.Errorf("%d files are searched with more room", len(hits))
	}
	r.stop()
	r.codeCfg = knowledge.CodeConfig{MaxBytes: 9_000}
	r.start()
	if hits, _ := r.pages(knowledge.SearchCodeInput{Query: "marker", Limit: 50}); len(hits) == 0 || len(hits) > 30 {
		t.Errorf("%d files are searched with little room in all", len(hits))
	}
	r.stop()
	r.codeCfg = knowledge.CodeConfig{Sources: []string{"other", "acme/*"}}
	r.start()
	if out := r.find(knowledge.SearchCodeInput{Query: "marker"}); len(out.Hits) > 0 || out.Unsearched != 1 || out.Searched != 0 {
		t.Errorf("a source that is off: %+v", out)
	}
}
