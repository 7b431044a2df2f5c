package app

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

// TestBrowserRunsPreviews has an agent and a developer make, extend and remove
// previews of the demo while their page is open.
func TestBrowserRunsPreviews(t *testing.T) {
	s := startBrowsed(t)
	got := browse(t, s.url, "previews.cjs", map[string]string{"agent": s.tokens["agent"]})
	var out struct {
		Made     string
		Appeared int
	}
	if err := json.Unmarshal(got.Out, &out); err != nil {
		t.Fatal(err)
	}
	t.Logf("an agent's preview was in the open page after %d ms", out.Appeared)
	if limit := 10 * time.Second; time.Duration(out.Appeared)*time.Millisecond > limit { // the goal is 1 s on a machine at rest
		t.Errorf("it took %d ms to be seen", out.Appeared)
	}
	var left previews.Page
	s.send("agent", http.MethodGet, "/api/v1/previews", "").decode(t, &left)
	if len(left.Items) != 1 || left.Items[0].ID != out.Made {
		t.Errorf("%s was made, and there is %+v", out.Made, left.Items)
	}
}
