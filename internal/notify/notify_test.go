package notify_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/notify"
)

const secret = "a secret of enough bytes"

func hook(t *testing.T, url, text string) *notify.Hook {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return notify.New(notify.Config{URL: url, SecretFile: file})
}

func TestSend(t *testing.T) {
	status := http.StatusNoContent
	var got *http.Request
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		if status == http.StatusFound {
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	h := hook(t, s.URL+"/hook?token=hidden", secret+"\n")
	if err := h.Send(t.Context(), "proposal.ended", "p-1.x", []byte(`{"id":"p-1"}`)); err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	if string(body) != `{"id":"p-1"}` || got.Header.Get(notify.SignatureHeader) != want || got.Header.Get(notify.DeliveryHeader) != "p-1.x" || got.Header.Get(notify.EventHeader) != "proposal.ended" ||
		got.Header.Get("Content-Type") != "application/json" || got.Method != http.MethodPost {
		t.Errorf("sent %s %v", body, got.Header)
	}
	for _, status = range []int{http.StatusFound, http.StatusBadRequest, http.StatusInternalServerError} {
		err := h.Send(t.Context(), "e", "i", nil)
		if fault.CodeOf(err) != fault.Unavailable || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%d: %v", status, err)
		}
	}
	s.Close()
	if err := h.Send(t.Context(), "e", "i", nil); fault.CodeOf(err) != fault.Unavailable || strings.Contains(err.Error(), "hidden") {
		t.Errorf("nobody listens: %v", err)
	}
}

// TestSendIsBounded has a receiver that never answers, and one that never ends
// its answer.
func TestSendIsBounded(t *testing.T) {
	gone := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/endless" {
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}
		select {
		case <-gone:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(gone) })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := hook(t, s.URL, secret).Send(ctx, "e", "i", nil); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("of one that never answers: %v", err)
	}
	if err := hook(t, s.URL+"/endless", secret).Send(t.Context(), "e", "i", nil); err != nil {
		t.Errorf("of one that never ends: %v", err)
	}
}

func TestSecretIsNeeded(t *testing.T) {
	asked := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(s.Close)
	for _, h := range []*notify.Hook{hook(t, s.URL, "short"), hook(t, s.URL, strings.Repeat("x", 5000)), notify.New(notify.Config{URL: s.URL, SecretFile: filepath.Join(t.TempDir(), "none")})} {
		if err := h.Send(t.Context(), "e", "i", nil); fault.CodeOf(err) != fault.FailedPrecondition {
			t.Errorf("without a secret: %v", err)
		}
	}
	if asked {
		t.Error("something was sent without a signature")
	}
	for url, want := range map[string]int{"https://a.test/x": 0, "": 1, "ftp://a": 1, "https://u:p@a.test": 1, "a": 1} {
		if ps := (&notify.Config{URL: url, SecretFile: "s"}).Validate(); len(ps) != want {
			t.Errorf("%q: %v", url, ps)
		}
	}
	if ps := (&notify.Config{URL: "https://a.test"}).Validate(); len(ps) != 1 || ps[0].Field != "secretFile" {
		t.Errorf("%v", ps)
	}
}
