package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// backstageData is the folder of the catalog that both answer on.
func backstageData(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "backstage"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// startBeside serves the catalog that Backstage is given as well.
func startBeside(t *testing.T) (*server, *dialogue) {
	t.Helper()
	dir := t.TempDir()
	s := &server{t: t, dir: dir, tokens: map[string]string{"reader": "reader-0123456789abcdef0123456789abcdef"}}
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(s.tokens["reader"]), 0o600); err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(backstageData(t), "catalog")
	config := fmt.Sprintf(`listen: 127.0.0.1:0
auth:
  tokens:
    - {name: reader, tokenFile: token, subject: "user:default/reader", roles: [sre]}
catalog:
  sources:
    - {name: files, file: {path: %q, include: [all.yaml]}}
`, files)
	path := filepath.Join(dir, "fairlead.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(path)
	d := &dialogue{t: t, base: s.url + "/api/catalog", token: s.tokens["reader"], dir: files, uids: map[string]string{}}
	var all []struct {
		Kind     string
		Metadata struct{ Namespace, Name, UID string }
	}
	s.send("reader", http.MethodGet, "/api/catalog/entities?fields=kind,metadata", "").decode(t, &all)
	for _, e := range all {
		d.uids[strings.ToLower(e.Kind+":"+e.Metadata.Namespace+"/"+e.Metadata.Name)] = e.Metadata.UID
	}
	return s, d
}

// sameCatalog gives Backstage's entities the uids that Fairlead's have, so that
// what is ordered by them can be compared, and takes away the Location that
// Backstage makes for the configured file itself and Fairlead does not.
func sameCatalog(t *testing.T, b *realtest.BackstageServer, uids map[string]string) {
	t.Helper()
	var values []string
	for ref, uid := range uids {
		values = append(values, fmt.Sprintf("('%s','%s')", strings.ReplaceAll(ref, "'", "''"), uid))
	}
	_, err := b.SQL(t.Context(), `SET session_replication_role = replica;
		CREATE TEMP TABLE root AS SELECT entity_id, entity_ref FROM refresh_state WHERE entity_ref LIKE 'location:default/generated-%';
		DELETE FROM search WHERE entity_id IN (SELECT entity_id FROM root);
		DELETE FROM final_entities WHERE entity_id IN (SELECT entity_id FROM root);
		DELETE FROM refresh_state_references WHERE source_entity_ref IN (SELECT entity_ref FROM root);
		UPDATE refresh_state_references SET target_entity_ref = 'location:default/ferry-line' WHERE target_entity_ref IN (SELECT entity_ref FROM root);
		DELETE FROM refresh_state WHERE entity_id IN (SELECT entity_id FROM root);
		CREATE TEMP TABLE chosen (ref text, uid text);
		INSERT INTO chosen VALUES `+strings.Join(values, ",")+`;
		CREATE TEMP TABLE renamed AS SELECT entity_id::text AS was, uid FROM refresh_state JOIN chosen ON ref = entity_ref;
		UPDATE search SET value = uid, original_value = uid FROM renamed WHERE entity_id = was AND key = 'metadata.uid';
		UPDATE search SET entity_id = uid FROM renamed WHERE entity_id = was;
		UPDATE final_entities SET entity_id = uid, final_entity = replace(final_entity, was, uid) FROM renamed WHERE entity_id = was;
		UPDATE relations SET originating_entity_id = uid FROM renamed WHERE originating_entity_id = was;
		UPDATE refresh_keys SET entity_id = uid FROM renamed WHERE entity_id = was;
		UPDATE refresh_state SET entity_id = uid FROM renamed WHERE entity_id = was;`)
	if err != nil {
		t.Fatal(err)
	}
}

// TestBackstageAnswersAlike asks real Backstage and Fairlead the same on the
// same files, and holds what was recorded of Backstage's answers against what
// it answers now. FAIRLEAD_UPDATE_GOLDEN=1 records.
func TestBackstageAnswersAlike(t *testing.T) {
	table := requests(t, filepath.Join(backstageData(t), "requests.txt"))
	_, ours := startBeside(t)
	b := realtest.Backstage(t, realtest.BackstageConfig{Locations: []string{filepath.Join(ours.dir, "all.yaml")}})
	sameCatalog(t, b, ours.uids)
	theirs := &dialogue{t: t, base: b.URL + "/api/catalog", token: b.Token, dir: ours.dir, uids: ours.uids}
	want := theirs.hold(table)
	if os.Getenv("FAIRLEAD_UPDATE_GOLDEN") == "1" {
		record(t, want)
	}
	for i, x := range recorded(t, table) {
		if was, now := x.text(t), want[i].text(t); was != now {
			t.Errorf("%s: Backstage answers otherwise than was recorded\nrecorded: %s\n     now: %s", x.Request, was, now)
		}
	}
	compareAll(t, want, ours.hold(table))
}

// TestAnswersAsBackstageRecorded asks Fairlead what Backstage was asked when
// its answers were recorded.
func TestAnswersAsBackstageRecorded(t *testing.T) {
	table := requests(t, filepath.Join(backstageData(t), "requests.txt"))
	_, ours := startBeside(t)
	compareAll(t, recorded(t, table), ours.hold(table))
}

// text is an exchange as it is recorded.
func (x exchange) text(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const answersFile = "testdata/backstage/answers.jsonl"

func record(t *testing.T, answers []exchange) {
	t.Helper()
	var b strings.Builder
	for _, x := range answers {
		b.WriteString(x.text(t) + "\n")
	}
	if err := os.WriteFile(answersFile, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// recorded are Backstage's answers to the requests of the table.
func recorded(t *testing.T, table []asked) []exchange {
	t.Helper()
	var out []exchange
	for line := range strings.Lines(readFile(t, answersFile)) {
		var x exchange
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	if !slices.EqualFunc(table, out, func(a asked, x exchange) bool { return a.line == x.Request }) {
		t.Fatalf("%s is not of these requests: record it again with FAIRLEAD_UPDATE_GOLDEN=1 and real Backstage", answersFile)
	}
	return out
}

// differences reads which answers may differ, and in what: "wording" is the
// message of an error, "problems" are the errors that are listed, "answer" is
// all of it.
func differences(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(readFile(t, "testdata/backstage/differences.txt")) {
		line = strings.TrimSpace(line)
		if what, request, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "#") {
			out[request] = what
		}
	}
	return out
}

// compareAll holds Fairlead's answers against Backstage's, but for the
// differences that are listed; one that is gone must leave the list.
func compareAll(t *testing.T, want, got []exchange) {
	t.Helper()
	listed := differences(t)
	for i := range want {
		w, g := want[i].text(t), got[i].text(t)
		what := listed[want[i].Request]
		switch {
		case w == g && what != "":
			t.Errorf("%s: there is no difference any more; take it from the list", want[i].Request)
		case w == g || what == "answer":
		case what != "" && want[i].without(t, what) == got[i].without(t, what):
		default:
			t.Errorf("%s\nBackstage: %s\n Fairlead: %s", want[i].Request, w, g)
		}
	}
}

// without is an exchange without what may differ.
func (x exchange) without(t *testing.T, what string) string {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(x.Body, &body); err != nil {
		return x.text(t)
	}
	switch e := body["error"].(type) {
	case map[string]any:
		if what == "wording" && e["message"] != "" {
			e["message"] = "{message}"
		}
	case nil:
		if list, ok := body["errors"].([]any); ok && what == "problems" && len(list) > 0 {
			body["errors"] = "{errors}"
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	x.Body = text
	return x.text(t)
}
