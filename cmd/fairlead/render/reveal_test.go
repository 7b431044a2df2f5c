package render_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

// TestDataDoesNotActOnTerminals writes characters that a terminal obeys, raw
// as JSON allows them, and reads back the same text.
func TestDataDoesNotActOnTerminals(t *testing.T) {
	const text = "a\u009b31m\u007f \u202egnp \u2066x\u200b\U000e0001 \u061c\u00ad # : 'b' \"c\" \\u"
	value := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
	raw := json.RawMessage(`{"` + value + `":["` + value + `","` + value + `\n` + value + `\u001b[2J"]}`)
	want := map[string][]string{text: {text, text + "\n" + text + "\x1b[2J"}}
	for name, form := range map[string]struct {
		write func(*bytes.Buffer) error
		read  func([]byte, any) error
	}{
		"json": {func(b *bytes.Buffer) error { return render.JSON(b, raw) }, json.Unmarshal},
		"yaml": {func(b *bytes.Buffer) error { return render.YAML(b, raw) }, yaml.Unmarshal},
	} {
		var b bytes.Buffer
		if err := form.write(&b); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.String() {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%s holds %U: %q", name, r, b.String())
			}
		}
		got := map[string][]string{}
		if err := form.read(b.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, b.String())
		}
		if len(got) != 1 || strings.Join(got[text], "|") != strings.Join(want[text], "|") {
			t.Errorf("%s reads back as %q", name, got)
		}
	}
	var b bytes.Buffer
	if err := render.JSON(&b, json.RawMessage("[\"\x9b31m\"]")); err != nil || !strings.Contains(b.String(), `\ufffd31m`) {
		t.Errorf("%v %q", err, b.String())
	}
}
