package git

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestDescribe(t *testing.T) {
	commit := strings.Repeat("a", 40)
	for _, c := range []struct {
		url, web, forge, ref    string
		shown, repository, base string
	}{
		{"https://github.com/acme/catalog.git", "", "", "main", "https://github.com/acme/catalog.git", "https://github.com/acme/catalog", "https://github.com/acme/catalog/blob/main/"},
		{"https://github.com/acme/catalog/", "", "", "", "https://github.com/acme/catalog/", "https://github.com/acme/catalog", "https://github.com/acme/catalog/blob/HEAD/"},
		{"https://github.example.com/acme/catalog", "", "", "v1", "https://github.example.com/acme/catalog", "https://github.example.com/acme/catalog", "https://github.example.com/acme/catalog/blob/v1/"},
		{"git@github.com:acme/catalog.git", "", "", "main", "ssh://github.com/acme/catalog.git", "https://github.com/acme/catalog", "https://github.com/acme/catalog/blob/main/"},
		{"ssh://git@gitlab.com:2222/a/b/c.git", "", "", "main", "ssh://gitlab.com:2222/a/b/c.git", "https://gitlab.com/a/b/c", "https://gitlab.com/a/b/c/-/blob/main/"},
		{"https://gitea.example.com:3000/acme/x.git", "", "", "feature/y", "https://gitea.example.com:3000/acme/x.git", "https://gitea.example.com:3000/acme/x", "https://gitea.example.com:3000/acme/x/src/branch/feature/y/"},
		{"https://codeberg.org/acme/x", "", "", "refs/tags/v1", "https://codeberg.org/acme/x", "https://codeberg.org/acme/x", "https://codeberg.org/acme/x/src/tag/v1/"},
		{"https://code.example.com/acme/x", "", "gitea", commit, "https://code.example.com/acme/x", "https://code.example.com/acme/x", "https://code.example.com/acme/x/src/commit/" + commit + "/"},
		{"http://127.0.0.1:8080/x.git", "https://gitlab.com/acme/x", "", "refs/heads/a#b", "http://127.0.0.1:8080/x.git", "https://gitlab.com/acme/x", "https://gitlab.com/acme/x/-/blob/a%23b/"},
		{"https://git.example.com/acme/x.git", "", "", "main", "https://git.example.com/acme/x.git", "https://git.example.com/acme/x", "https://git.example.com/acme/x/blob/main/"},
		{"/srv/git/my repo", "", "", "main", "/srv/git/my repo", "/srv/git/my repo", "file:///srv/git/my%20repo/blob/main/"},
		{"file:///srv/git/x.git", "", "", "", "/srv/git/x.git", "/srv/git/x.git", "file:///srv/git/x.git/blob/HEAD/"},
		{"/srv/git/x", "https://github.com/acme/x/", "", "main", "/srv/git/x", "https://github.com/acme/x", "https://github.com/acme/x/blob/main/"},
	} {
		cfg := SourceConfig{URL: c.url, WebURL: c.web, Forge: c.forge, Ref: c.ref}
		if strings.Contains(c.shown, "ssh:") {
			cfg.Credentials.SSHKeyFile = "key"
		}
		src, err := NewSource("s", cfg, "state", "", nil)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		check(t, c.url, src.Describe(), ingest.Description{Name: "s", Type: "git", URL: c.shown, Repository: c.repository, BaseType: "url", Base: c.base, Include: DefaultInclude(), FileBytes: DefaultFileBytes})
	}
}

func TestParseAddress(t *testing.T) {
	for in, want := range map[string]string{
		"git@host.example:acme/x.git":  "ssh acme/x.git",
		"git@host.example:/srv/x.git":  "ssh /srv/x.git",
		"host:x":                       "ssh x",
		"ssh://git@host/~ada/x":        "ssh ~ada/x",
		"ssh://git@host:22/srv/x":      "ssh /srv/x",
		"./a:b":                        "disk ./a:b",
		"/srv/x":                       "disk /srv/x",
		"x":                            "disk x",
		"file:///srv/a%20b":            "disk /srv/a b",
		"https://host/x":               "http ",
		"ssh://git:s3cret@host/x":      "error",
		"https://u:s3cret@host/x":      "error",
		"https://host":                 "error",
		"https:///x":                   "error",
		"https://host/x?token=s3cret":  "error",
		"ftp://host/x":                 "error",
		"file://elsewhere/x":           "error",
		"ext::sh -c x":                 "disk ext::sh -c x",
		"https://host/x\nHost: s3cret": "error",
		"https://host:s3cret/x":        "error",
		"ssh://":                       "error",
	} {
		a, err := parseAddress(in)
		got := map[reach]string{onDisk: "disk ", overHTTP: "http ", overSSH: "ssh "}[a.kind] + a.path
		if err != nil {
			got = "error"
			mustNotSay(t, err, "s3cret")
		}
		check(t, in, got, want)
	}
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		cfg    SourceConfig
		fields string
	}{
		"good":          {SourceConfig{URL: "https://host/x", Ref: "main", Include: []string{"**/*.yaml"}, Credentials: Credentials{TokenEnv: "T"}}, ""},
		"loopback":      {SourceConfig{URL: "http://127.0.0.1:1/x", Credentials: Credentials{TokenEnv: "T"}}, ""},
		"empty":         {SourceConfig{}, "url"},
		"many":          {SourceConfig{URL: "https://u:p@host/x", Ref: "a..b", Include: []string{"["}, WebURL: "x", Forge: "svn", Limits: Limits{Timeout: -time.Second, DiskBytes: -1, FileBytes: -1, Files: -1}}, "url ref include[0] webURL forge limits.timeout limits.diskBytes limits.fileBytes limits.files"},
		"both tokens":   {SourceConfig{URL: "https://host/x", Credentials: Credentials{TokenEnv: "T", TokenFile: "f"}}, "credentials"},
		"plain http":    {SourceConfig{URL: "http://host/x", Credentials: Credentials{TokenEnv: "T"}}, "url"},
		"ssh, no key":   {SourceConfig{URL: "git@host:x"}, "credentials.sshKeyFile"},
		"ssh, token":    {SourceConfig{URL: "git@host:x", Credentials: Credentials{TokenEnv: "T", SSHKeyFile: "k"}}, "credentials"},
		"https, key":    {SourceConfig{URL: "https://host/x", Credentials: Credentials{SSHKeyFile: "k"}}, "credentials.sshKeyFile"},
		"disk, token":   {SourceConfig{URL: "/x", Credentials: Credentials{TokenEnv: "T"}}, "credentials"},
		"option as ref": {SourceConfig{URL: "/x", Ref: "--upload-pack=x"}, "ref"},
	} {
		var fields []string
		for _, p := range c.cfg.Validate() {
			fields = append(fields, p.Field)
			if p.Message == "" || strings.Contains(p.Message, "u:p@") {
				t.Errorf("%s: %s: %q", name, p.Field, p.Message)
			}
		}
		check(t, name, strings.Join(fields, " "), c.fields)
		if _, err := NewSource("x", c.cfg, "", "", nil); (err == nil) != (c.fields == "") || err != nil && fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: NewSource gives %v", name, err)
		}
	}
}

func TestSafeRef(t *testing.T) {
	for _, good := range []string{"main", "feature/x", "v1.0", "refs/tags/v1", "ünïcode", "HEAD", "a@b"} {
		check(t, good, safeRef(good), true)
	}
	for _, bad := range []string{"", "-x", "../x", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", `a\b`, "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.", "a\nb", "a\x00b", "a@{1}", strings.Repeat("a", 1025)} {
		check(t, bad, safeRef(bad), false)
	}
}

func TestParseAuthor(t *testing.T) {
	for in, want := range map[string]string{
		"Ada Lovelace <ada@example.com> 1700000000 +0130": "Ada Lovelace 2023-11-14T23:43:20+01:30",
		"<ada@example.com> 1700000000 -0500":              "ada@example.com 2023-11-14T17:13:20-05:00",
		"A\xff <x> 0 +0000":                               "A\ufffd 1970-01-01T00:00:00Z",
		"A <x> -5 +0000":                                  "A 0001-01-01T00:00:00Z",
		"A <x> 99999999999999999 +0000":                   "A 0001-01-01T00:00:00Z",
		"A <x> 0 +9999":                                   "A 1970-01-01T00:00:00Z",
		"":                                                " 0001-01-01T00:00:00Z",
	} {
		name, when := parseAuthor(in)
		check(t, in, name+" "+when.Format(time.RFC3339), want)
	}
}

func TestWithoutCredentials(t *testing.T) {
	for in, want := range map[string]string{
		"https://u:p@host/x@y": "https://host/x@y", "https://p@host": "https://host", "git@host:x": "git@host:x", "/srv/x": "/srv/x", "https://a@b@host/x": "https://host/x",
	} {
		check(t, in, withoutCredentials(in), want)
	}
}
