package access_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// canaryToken has the form of a token of Fairlead's.
const canaryToken = "fairlead_canaryCANARY0123456789"

// recorded gives the audit entry of an act with an input and a target.
func recorded(t *testing.T, input any, target string, err error) access.Entry {
	t.Helper()
	g, log := accesstest.Guard(t, accesstest.OpenPolicy())
	op := access.Op{Action: access.RefreshCatalog, Target: target, Input: input}
	_, _ = access.Do(t.Context(), g, alice(), op, func(context.Context) (int, error) { return 0, err })
	return log.Entries()[0]
}

func TestTheAuditHoldsNoSecrets(t *testing.T) {
	for _, secret := range []string{
		canaryToken,
		"ghp_canary0123456789canary", "github_pat_canary_0123456789", "glpat-canary-0123456789", "hvs.canary0123456789", "xoxb-canary-0123456789",
		"AKIACANARYCANARY0123", "eyJjYW5hcnkiOiJjYW5hcnkifQ.eyJjYW5hcnkiOiJjYW5hcnkifQ.canary",
		"Bearer canary-canary", "https://alice:canary@git.example.com/x", "https://canary@git.example.com/x",
		"-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\ncanary",
	} {
		text := "see " + secret + " there"
		e := recorded(t, map[string]any{"reason": text, "deep": []any{map[string]string{text: "x"}}}, text, fault.New(fault.Conflict, "%s", text))
		all, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(all); strings.Contains(strings.ToLower(got), "canary") || strings.Contains(got, "Y2FuYXJ5") || strings.Count(got, "[secret]") != 4 {
			t.Errorf("%s: recorded as %s", secret, got)
		}
		if !strings.HasPrefix(e.Target, "see ") {
			t.Errorf("%s: all of the text is gone: %q", secret, e.Target)
		}
	}
}

func TestTheAuditMasksSecretFields(t *testing.T) {
	e := recorded(t, map[string]any{
		"apiKey": "canary", "password": map[string]string{"x": "canary"}, "clientSecret": []string{"canary"}, "Authorization": "canary",
		"value": access.NewSecret("canary"), "max_tokens": 100, "service": "checkout",
	}, "x", nil)
	want := `{"Authorization":"[secret]","apiKey":"[secret]","clientSecret":"[secret]","max_tokens":100,"password":"[secret]","service":"checkout","value":"[secret]"}`
	if e.Input != want {
		t.Errorf("input = %s", e.Input)
	}
}

func TestTheAuditIsBounded(t *testing.T) {
	long := strings.Repeat("é", 5000)
	e := recorded(t, map[string]any{"a": long, "b": strings.Split(strings.Repeat("x,", 5000), ",")}, long, fault.New(fault.Invalid, "%s", long))
	for name, text := range map[string]string{"input": e.Input, "target": e.Target, "message": e.Message} {
		if len(text) > 2100 || name != "input" && len(text) > 520 || !strings.HasSuffix(text, "…") || !utf8.ValidString(text) {
			t.Errorf("%s has %d bytes and ends in %q", name, len(text), text[len(text)-8:])
		}
	}
	if e := recorded(t, nil, "a\x00b\xffc\x1bd", nil); e.Target != "a b\uFFFDc d" || e.Input != "" {
		t.Errorf("target = %q", e.Target)
	}
	if e := recorded(t, func() {}, "x", nil); e.Input != `"an input that cannot be shown"` {
		t.Errorf("input = %q", e.Input)
	}
}
