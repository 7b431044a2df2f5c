package app

import (
	"encoding/json"
	"testing"
	"time"
)

// TestBrowserSeesChanges has files of the demo's repositories change while a
// page is open that shows what they say.
func TestBrowserSeesChanges(t *testing.T) {
	s := startBrowsed(t)
	got := browse(t, s.url, "live.cjs", map[string]string{"repos": s.repo(), "token": s.tokens["sre"]})
	var took map[string]int
	if err := json.Unmarshal(got.Out, &took); err != nil {
		t.Fatal(err)
	}
	t.Logf("milliseconds from the webhook to the open page: %v", took)
	if len(took) != 5 {
		t.Errorf("only %v was seen to change", took)
	}
	for change, ms := range took { // the goal is 2 s on a machine at rest
		if limit := 10 * time.Second; time.Duration(ms)*time.Millisecond > limit {
			t.Errorf("%s took %d ms to be seen", change, ms)
		}
	}
}
