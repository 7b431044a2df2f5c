package realtest_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

func TestBackstageReadsItsCatalog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "one.yaml")
	if err := os.WriteFile(file, []byte("apiVersion: backstage.io/v1alpha1\nkind: System\nmetadata: {name: one}\nspec: {owner: someone}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := realtest.Backstage(t, realtest.BackstageConfig{Locations: []string{file}})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.URL+"/api/catalog/entities/by-name/system/default/one", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"ownedBy"`) {
		t.Errorf("%s %s %v", resp.Status, body, err)
	}
	if rows, err := b.SQL(t.Context(), "SELECT count(*) FROM final_entities"); err != nil || strings.TrimSpace(rows) != "2" {
		t.Errorf("%q entities, %v", rows, err)
	}
}
