package backstage

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/yamldoc"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		cfg   Config
		field string // "" where it is right
	}{
		"base":          {Config{URL: "https://backstage.example.com"}, ""},
		"local":         {Config{URL: "http://127.0.0.1:7007/api/catalog", Credentials: Credentials{TokenEnv: "T"}}, ""},
		"no token":      {Config{URL: "http://backstage.example.com"}, ""},
		"no URL":        {Config{}, "url"},
		"scheme":        {Config{URL: "ftp://backstage.example.com"}, "url"},
		"password":      {Config{URL: "https://a:b@backstage.example.com"}, "url"},
		"query":         {Config{URL: "https://backstage.example.com?a=1"}, "url"},
		"in the clear":  {Config{URL: "http://backstage.example.com", Credentials: Credentials{TokenEnv: "T"}}, "url"},
		"both tokens":   {Config{URL: "https://h", Credentials: Credentials{TokenEnv: "T", TokenFile: "f"}}, "credentials"},
		"filter":        {Config{URL: "https://h", Filter: []string{"kind=component", " "}}, "filter[1]"},
		"timeout":       {Config{URL: "https://h", Limits: Limits{Timeout: -time.Second}}, "limits.timeout"},
		"entities":      {Config{URL: "https://h", Limits: Limits{Entities: -1}}, "limits.entities"},
		"entity bytes":  {Config{URL: "https://h", Limits: Limits{EntityBytes: 1 << 40}}, "limits.entityBytes"},
		"no host":       {Config{URL: "https://"}, "url"},
		"hidden secret": {Config{URL: "https://u:secret@h:port"}, "url"},
	}
	for name, c := range cases {
		ps := c.cfg.Validate()
		if (c.field == "") != (len(ps) == 0) || len(ps) > 0 && ps[0].Field != c.field {
			t.Errorf("%s: %v", name, ps)
		}
		for _, p := range ps {
			if strings.Contains(p.Message, "secret") {
				t.Errorf("%s tells a secret: %s", name, p.Message)
			}
		}
	}
}

func TestDescription(t *testing.T) {
	for text, want := range map[string]string{
		"https://b.example.com":              "https://b.example.com/api/catalog/entities/by-name/",
		"https://b.example.com/":             "https://b.example.com/api/catalog/entities/by-name/",
		"https://b.example.com/backstage/":   "https://b.example.com/backstage/api/catalog/entities/by-name/",
		"https://b.example.com/api/catalog/": "https://b.example.com/api/catalog/entities/by-name/",
	} {
		s, err := New("existing", Config{URL: text}, "")
		if err != nil {
			t.Fatal(err)
		}
		if d := s.Describe(); d.Base != want || d.Type != "backstage" || d.BaseType != "url" || d.URL != text {
			t.Errorf("%s: %+v", text, d)
		}
	}
	if _, err := New("existing", Config{}, ""); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("no URL: %v", err)
	}
}

func TestTokens(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": " \n", "two": "a b", "good": " good\n", "huge": strings.Repeat("x", maxToken+1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"none": "cannot be read", "empty": "is empty", "two": "one token", "huge": "cannot be read", ".": "cannot be read"} {
		s, err := New("existing", Config{URL: "https://localhost:1", Credentials: Credentials{TokenFile: name}}, dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Observe(t.Context())
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.FailedPrecondition || !strings.Contains(f.Message, want) || !strings.Contains(f.Message, filepath.Join(dir, name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := (Credentials{TokenFile: "good"}).in(dir).token(); got != "good" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

// FuzzEscape holds paths to be safe and reversible.
func FuzzEscape(f *testing.F) {
	for _, name := range []string{"a", "..", ".", "a/b", "%2f", "é", "a.b-c_d", "\x00", "A"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := escape(name)
		back, err := url.PathUnescape(got)
		if err != nil || back != name {
			t.Errorf("%q became %q and %q", name, got, back)
		}
		if got == "." || got == ".." || strings.ContainsAny(got, "/\\\x00\n") {
			t.Errorf("%q is no name of a file", got)
		}
	})
}

// FuzzConvert holds files to say as YAML what they say as JSON.
func FuzzConvert(f *testing.F) {
	f.Add(`{"a":"\u0085\u2028\ufeff\u007f\ud83d\ude00","b":[1,1e400,-0,0.1,1e-7,null,true,"~","null","1","0x1"],"c":{},"d":[]}`)
	f.Add(`{"<<":{"a":1},"? x":"- y","#":"# z","__proto__":1,"":"","*a":"&b","!!str":"!!int 1"}`)
	f.Fuzz(func(t *testing.T, spec string) {
		v, err := entity.ParseJSON([]byte(spec))
		if _, ok := v.(*entity.Object); err != nil || !ok || len(spec) > 1000 || strings.Count(spec, "{")+strings.Count(spec, "[") > 50 {
			return
		}
		data, err := convert([]byte(`{"kind":"K","metadata":{"name":"N","uid":"u","etag":"e"},"relations":[],"status":{},"spec":`+spec+`}`), "k:default/n")
		if err != nil {
			t.Fatal(err)
		}
		docs, fatal := yamldoc.Read(data)
		if fatal != nil || len(docs) != 1 || len(docs[0].Problems) > 0 {
			t.Fatalf("%s: %v %+v", data, fatal, docs)
		}
		want := `{"kind":"K","metadata":{"name":"N"},"spec":` + string(entity.AppendJSON(nil, v)) + `}`
		if diff := cmp.Diff(want, string(entity.AppendJSON(nil, docs[0].Value))); diff != "" {
			t.Errorf("%s", diff)
		}
	})
}
