package loan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

// wrapped has Vault wrap what it answers.
func wrapped(t *testing.T, v *realtest.VaultServer, client *http.Client, path, ttl string) *Loan {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.Address+"/v1/"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Vault-Token", v.RootToken)
	req.Header.Set("X-Vault-Wrap-TTL", ttl)
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Wrap struct{ Token string } `json:"wrap_info"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Wrap.Token == "" {
		t.Fatal(res.Status, err)
	}
	return &Loan{Status: Status{Lease: "l"}, Name: "db", Engine: "kv", Wrap: &Wrap{Token: secret{value.New([]byte(answer.Wrap.Token))}, UnwrapURL: v.Address + "/v1/sys/wrapping/unwrap"}}
}

func again(l *Loan) *Loan {
	token := ""
	l.Wrap.Token.Reveal(func(b []byte) { token = string(b) })
	return &Loan{Status: l.Status, Name: l.Name, Engine: l.Engine, Wrap: &Wrap{Token: secret{value.New([]byte(token))}, UnwrapURL: l.Wrap.UnwrapURL}}
}

// TestVaultOpens holds the opener to a real Vault: what it gives, once, and how
// it refuses.
func TestVaultOpens(t *testing.T) {
	v := realtest.VaultTLS(t)
	o, err := NewOpener(v.CAFile, false)
	if err != nil {
		t.Fatal(err)
	}
	v.Must(t, http.MethodPost, "secret/data/team/shop", map[string]any{"data": map[string]any{"api-key": "k-123", "port": 5432, "nested": map[string]any{"key": "inner"}}}, nil)
	v.Must(t, http.MethodPost, "sys/mounts/old", map[string]any{"type": "kv", "options": map[string]any{"version": "1"}}, nil)
	v.Must(t, http.MethodPost, "old/shop", map[string]any{"data": "text", "metadata": "more"}, nil)
	for path, want := range map[string]string{"secret/data/team/shop": "[api-key nested port]", "old/shop": "[data metadata]"} {
		l := wrapped(t, v, o.http, path, "1m")
		replay := again(l)
		c, err := o.Open(t.Context(), l)
		if err != nil || fmt.Sprint(slices.Sorted(maps.Keys(c.fields))) != want {
			t.Fatalf("%s: %v %v", path, c, err)
		}
		for range 2 {
			if _, err := o.Open(t.Context(), again(replay)); !errors.Is(err, ErrUsed) {
				t.Errorf("replayed: %v", err)
			}
		}
	}
	database := v.Database(t, "database")
	v.DatabaseRole(t, "database", "ro", time.Minute, time.Hour)
	l := wrapped(t, v, o.http, "database/creds/ro", "1m")
	l.Engine = "database"
	c, err := o.Open(t.Context(), l)
	if err != nil || len(c.fields) != 2 || database == "" {
		t.Fatal(c, err)
	}
	late := wrapped(t, v, o.http, "old/shop", "1s")
	late2 := wrapped(t, v, o.http, "old/shop", "1m")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if v.API(t, http.MethodPost, "sys/wrapping/lookup", map[string]any{"token": tokenOf(late)}, nil) != http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the wrapping does not end")
		}
	}
	if _, err := o.Open(t.Context(), late); !errors.Is(err, ErrUsed) {
		t.Errorf("too late: %v", err)
	}
	made := again(late2)
	made.Wrap.Token = secret{value.New([]byte("hvs.made-up"))}
	if _, err := o.Open(t.Context(), made); !errors.Is(err, ErrUsed) {
		t.Errorf("made up: %v", err)
	}
	v.Seal(t)
	if _, err := o.Open(t.Context(), late2); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "sealed") {
		t.Errorf("sealed: %v", err)
	}
}

func tokenOf(l *Loan) (token string) {
	l.Wrap.Token.Reveal(func(b []byte) { token = string(b) })
	return token
}
