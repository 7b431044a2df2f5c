package descriptor

import (
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	p := New(Options{Forges: map[string]string{"git.acme.test": "gitea", "ghe.acme.test": "github"}})
	const (
		hub  = "https://github.com/acme/catalog/tree/main/dir/a.yaml"
		lab  = "https://gitlab.com/grp/sub/proj/-/blob/main/dir/a.yaml"
		bit  = "https://bitbucket.org/ws/repo/src/main/dir/a.yaml"
		az   = "https://dev.azure.com/o/p/_git/r?path=/dir/a.yaml&version=GBmain"
		tea  = "https://git.acme.test/o/r/src/branch/main/dir/a.yaml"
		site = "https://example.test/files/a.yaml?token=x"
	)
	for _, tc := range []struct{ base, typ, target, want string }{
		{hub, TypeURL, "./b.yaml", "https://github.com/acme/catalog/tree/main/dir/b.yaml"},
		{hub, TypeURL, "b c.yaml", "https://github.com/acme/catalog/tree/main/dir/b%20c.yaml"},
		{hub, TypeURL, "b^c.yaml", "https://github.com/acme/catalog/tree/main/dir/b%5Ec.yaml"},
		{hub, TypeURL, "../b.yaml#top", "https://github.com/acme/catalog/tree/main/b.yaml#top"},
		{hub, TypeURL, "../../../../x/y/blob/z/b.yaml", "https://github.com/acme/x/y/blob/z/b.yaml"},
		{hub, TypeURL, "/b.yaml", "https://github.com/acme/catalog/tree/main/b.yaml"},
		{hub, TypeURL, "  ", hub},
		{hub, TypeURL, "b.yaml?x=1", "https://github.com/acme/catalog/tree/main/dir/b.yaml"},
		{hub, TypeURL, "https://github.com/o/r/blob/dev/b.yaml", "https://github.com/o/r/tree/dev/b.yaml"},
		{hub, TypeURL, "https://example.test/a b", "https://example.test/a b"},
		{hub, TypeURL, "https://", "https://"},
		{hub, TypeURL, strings.Repeat("a", 3000), strings.Repeat("a", 3000)},
		{hub, TypeFile, "./b.yaml", "./b.yaml"},
		{"https://ghe.acme.test/o/r/blob/main/a.yaml", TypeURL, "b.yaml", "https://ghe.acme.test/o/r/tree/main/b.yaml"},
		{lab, TypeURL, "b.yaml", "https://gitlab.com/grp/sub/proj/-/blob/main/dir/b.yaml"},
		{lab, TypeURL, "/b.yaml", "https://gitlab.com/grp/sub/proj/-/blob/main/b.yaml"},
		{bit, TypeURL, "/b.yaml", "https://bitbucket.org/ws/repo/src/main/b.yaml"},
		{tea, TypeURL, "b.yaml", "https://git.acme.test/o/r/src/branch/main/dir/b.yaml"},
		{az, TypeURL, "b c.yaml", "https://dev.azure.com/o/p/_git/r?path=%2Fdir%2Fb%2520c.yaml&version=GBmain"},
		{az, TypeURL, "/b.yaml", "https://dev.azure.com/o/p/_git/r?path=%2Fb.yaml&version=GBmain"},
		{site, TypeURL, "b.yaml", "https://example.test/files/b.yaml?token=x"},
		{site, TypeURL, "/b.yaml", "https://example.test/files/a.yaml/b.yaml?token=x"},
	} {
		got := p.Resolve(Location{TypeURL, tc.base}, tc.typ, tc.target)
		if want := (Location{tc.typ, tc.want}); got != want {
			t.Errorf("%.40q at %s: %.200s, want %s", tc.target, tc.base, got, want)
		}
	}
}

func TestResolveInFolder(t *testing.T) {
	p := New(Options{})
	base := Location{TypeFile, "/srv/catalog/dir/a.yaml"}
	for _, tc := range []struct{ typ, target, want string }{
		{TypeFile, "./b.yaml", "/srv/catalog/dir/b.yaml"},
		{TypeFile, "../*.yaml", "/srv/catalog/*.yaml"},
		{TypeFile, "./sub/", "/srv/catalog/dir/sub/"},
		{TypeFile, "b.yaml", "b.yaml"},
		{TypeFile, " ./b.yaml", " ./b.yaml"},
		{TypeFile, "/etc/b.yaml", "/etc/b.yaml"},
		{TypeURL, "./b.yaml", "./b.yaml"},
	} {
		if got := p.Resolve(base, tc.typ, tc.target); got.Target != tc.want || got.Type != tc.typ {
			t.Errorf("%s %q: %s, want %s", tc.typ, tc.target, got, tc.want)
		}
	}
}

func TestAddress(t *testing.T) {
	p := New(Options{})
	for _, tc := range []struct{ typ, base, name, registered, address string }{
		{TypeURL, blob, "a b/ü#.yaml", blob + "a%20b/%C3%BC%23.yaml", "https://github.com/acme/catalog/tree/main/a%20b/%C3%BC%23.yaml"},
		{TypeURL, strings.TrimSuffix(blob, "/"), "a.yaml", blob + "a.yaml", "https://github.com/acme/catalog/tree/main/a.yaml"},
		{TypeURL, "https://gitlab.com/o/r/-/blob/main/", "a.yaml", "https://gitlab.com/o/r/-/blob/main/a.yaml", "https://gitlab.com/o/r/-/blob/main/a.yaml"},
		{TypeFile, "/srv/catalog/", "a b/c.yaml", "/srv/catalog/a b/c.yaml", "/srv/catalog/a b/c.yaml"},
	} {
		base := Location{tc.typ, tc.base}
		registered, err := p.Registered(base, tc.name)
		if err != nil || registered.Target != tc.registered {
			t.Errorf("%s registered: %s, %v, want %s", tc.name, registered, err, tc.registered)
		}
		address, err := p.Address(base, tc.name)
		if err != nil || address.Target != tc.address {
			t.Errorf("%s: %s, %v, want %s", tc.name, address, err, tc.address)
		}
		if back, ok := p.Within(base, address); !ok || back != tc.name {
			t.Errorf("%s came back as %q, %v", tc.name, back, ok)
		}
	}
	for _, bad := range []string{"", "/a", "../a", "a/../../b"} {
		if at, err := p.Address(Location{TypeURL, blob}, bad); err == nil {
			t.Errorf("%q has the address %s, want an error", bad, at)
		}
	}
}

func TestWithin(t *testing.T) {
	p := New(Options{})
	hub := Location{TypeURL, blob}
	folder := Location{TypeFile, "/srv/catalog"}
	for _, tc := range []struct {
		base   Location
		target string
		want   string
		ok     bool
	}{
		{hub, "https://github.com/acme/catalog/tree/main/a.yaml", "a.yaml", true},
		{hub, "https://github.com/acme/catalog/raw/main/a%20b/c.yaml#x", "a b/c.yaml", true},
		{hub, "https://github.com/acme/catalog/edit/main/a.yaml?plain=1", "a.yaml", true},
		{hub, "HTTPS://GITHUB.com:443/acme/catalog/blob/main/a.yaml", "a.yaml", true},
		{hub, "https://github.com/acme/catalog/blob/main/dir/", "dir/", true},
		{hub, "https://github.com/acme/catalog/blob/main/*.yaml", "*.yaml", true},
		{hub, "https://github.com/acme/catalog/blob/main/a//b.yaml", "a/b.yaml", true},
		{hub, "https://github.com/acme/catalog/blob/main/blob/a.yaml", "blob/a.yaml", true},
		{hub, "https://github.com/acme/catalog/blob/main/a%2Fb.yaml", "a/b.yaml", true},
		{hub, "https://github.com/acme/catalog/blob/main/..%2F..%2Fx", "", false},
		{hub, "https://github.com/acme/catalog/blob/main/%2e%2e/dev/a.yaml", "", false},
		{hub, "https://github.com/acme/catalog/blob/main/%00", "", false},
		{hub, "https://github.com/acme/catalog/blob/main/%zz", "", false},
		{hub, "https://github.com/acme/catalog/tree/main", "", true},
		{hub, "https://github.com/acme/catalog/blob/dev/a.yaml", "", false},
		{hub, "https://github.com/acme/catalog/blob/mainly/a.yaml", "", false},
		{hub, "https://github.com/acme/other/blob/main/a.yaml", "", false},
		{hub, "https://gitlab.com/acme/catalog/blob/main/a.yaml", "", false},
		{hub, "http://github.com/acme/catalog/blob/main/a.yaml", "", false},
		{hub, "https://u@github.com/acme/catalog/blob/main/a.yaml", "", false},
		{hub, "not a URL", "", false},
		{Location{TypeURL, "https://git.test/o/r/src/branch/main/"}, "https://git.test/o/r/src/branch/main/a.yaml", "a.yaml", true},
	} {
		got, ok := p.Within(tc.base, Location{TypeURL, tc.target})
		if got != tc.want || ok != tc.ok {
			t.Errorf("%s: %q, %v, want %q, %v", tc.target, got, ok, tc.want, tc.ok)
		}
	}
	for target, want := range map[string]string{"/srv/catalog/a/b.yaml": "a/b.yaml", "/srv/catalog/x/../b": "b", "/srv/catalog/d/": "d/", "/srv/catalog": "", "/srv/catalog/": ""} {
		if got, ok := p.Within(folder, Location{TypeFile, target}); !ok || got != want {
			t.Errorf("%s: %q, %v, want %q", target, got, ok, want)
		}
	}
	for _, target := range []string{"/srv/catalogue/a", "/srv/catalog/../a", "a.yaml", "/etc/passwd", "/srv/catalog/a\x00"} {
		if got, ok := p.Within(folder, Location{TypeFile, target}); ok {
			t.Errorf("%q is taken for %q", target, got)
		}
	}
	if _, ok := p.Within(folder, hub); ok {
		t.Error("a URL is taken for a file")
	}
}

func TestAddressesOf(t *testing.T) {
	p := New(Options{Forges: map[string]string{"git.acme.test": "gitea", "tea.test:3000": "gitea", "bb.acme.test": "bitbucketServer", "x.test": "no such forge"}})
	commit := strings.Repeat("0123456789", 4)
	for _, tc := range []struct{ target, edit, source string }{
		{"https://github.com/o/r/tree/main/d/a.yaml", "https://github.com/o/r/edit/main/d/a.yaml", "https://github.com/o/r/tree/main/d/"},
		{"https://github.com/o/r/tree/" + commit + "/a.yaml", "", "https://github.com/o/r/tree/" + commit + "/"},
		{"https://gitlab.com/o/r/-/blob/main/a.yaml", "https://gitlab.com/o/r/-/edit/main/a.yaml", "https://gitlab.com/o/r/-/blob/main/"},
		{"https://bitbucket.org/o/r/src/main/a.yaml", "https://bitbucket.org/o/r/src/main/a.yaml?mode=edit&at=main", "https://bitbucket.org/o/r/src/main/"},
		{"https://bb.acme.test/projects/P/repos/R/browse/a.yaml?at=dev", "https://bb.acme.test/projects/P/repos/R/browse/a.yaml", "https://bb.acme.test/projects/P/repos/R/browse/?at=dev"},
		{"https://git.acme.test/o/r/src/branch/main/a.yaml", "https://git.acme.test/o/r/_edit/main/a.yaml", "https://git.acme.test/o/r/src/branch/main/"},
		{"http://tea.test:3000/o/r/src/branch/main/a.yaml", "http://tea.test:3000/o/r/_edit/main/a.yaml", "http://tea.test:3000/o/r/src/branch/main/"},
		{"https://git.acme.test/tea/o/r/src/branch/main/d/a.yaml", "https://git.acme.test/tea/o/r/_edit/main/d/a.yaml", "https://git.acme.test/tea/o/r/src/branch/main/d/"},
		{"https://dev.azure.com/o/p/_git/r?path=/a.yaml", "https://dev.azure.com/o/p/_git/r?path=%2Fa.yaml&_a=edit", "https://dev.azure.com/o/p/_git/r?path=%2F"},
		{"https://example.test/a.yaml", "", ""},
		{"https://x.test/a.yaml", "", ""},
	} {
		got := p.addressesOf(Location{TypeURL, tc.target})
		want := addresses{view: tc.target, edit: tc.edit}
		if tc.source != "" {
			want.source = "url:" + tc.source
		}
		if got != want {
			t.Errorf("%s:\n%+v\nwant\n%+v", tc.target, got, want)
		}
	}
	if got := p.addressesOf(Location{TypeFile, "/a.yaml"}); got != (addresses{}) {
		t.Errorf("a file has %+v", got)
	}
}

func TestNamesCommit(t *testing.T) {
	hex := strings.Repeat("0a", 20)
	for s, want := range map[string]bool{
		hex: true, "x-" + hex + "/": true, hex + "a": true, "x_" + hex: false, strings.ToUpper(hex): false, hex[1:]: false, hex[:20] + "-" + hex[20:]: false,
	} {
		if got := namesCommit(s); got != want {
			t.Errorf("namesCommit(%q) = %v", s, got)
		}
	}
}

// Hostile URLs cost no more than their length.
func TestHostileURLs(t *testing.T) {
	p := New(Options{})
	at := Location{TypeURL, "https://github.com/a/b/tree/main/x.yaml"}
	const n = 1 << 17
	for _, part := range []string{"a", "é", "a/", "../", "1", "1.", "@", "u@", "%41", "xn--a.", "//", "%25"} {
		long := strings.Repeat(part, n/len(part))
		for _, s := range []string{long, "https://" + long, "https://x/" + long, "https://" + long + "@x", "/" + long, "x:" + long} {
			isURL(s)
			where := p.Resolve(at, TypeURL, s)
			p.Within(Location{TypeURL, blob}, where)
			p.addressesOf(where)
		}
	}
}

// What is taken apart at sight must be what the parser makes of it.
func TestPlainLocations(t *testing.T) {
	p := New(Options{})
	for _, s := range []string{
		"https://github.com/o/r/tree/main/d/a.yaml", "https://gitlab.com/o/r/-/blob/main/a%20b/c.yaml", "https://github.com/o//r/blob/x/",
		"https://github.com/o/r/blob/m/a;b=c,d(e)!~*@:$&+", "https://example.test/", "https://github.com/a..b/r/blob/m/x",
		"https://github.com/", "https://gitlab.com/o/r/-/blob/%zz/%/x", "https://github.com/o/r/blob/0123456789012345678901234567890123456789/a",
	} {
		host, path, ok := plainURL(s)
		if !ok {
			t.Errorf("%s is not told at sight", s)
			continue
		}
		u, err := p.parse(s)
		if err != nil || u.Host() != host || u.Pathname() != path || u.Href(false) != s {
			t.Errorf("%s: %s %s, want %s %s, %v", s, host, path, u.Host(), u.Pathname(), err)
		}
		f := p.forges[host]
		if f == "" {
			continue
		}
		source, err := p.resolveFrom(u, "./")
		if got := p.addressesOf(Location{TypeURL, s}).source; err != nil || got != "url:"+source {
			t.Errorf("%s: source %s, want %s, %v", s, got, source, err)
		}
	}
	for _, s := range []string{"https://github.com", "https://github.com/./a", "https://github.com/a/../b", "https://github.com/%2e%2e/b", "https://github.com/a?b", "https://github.com/a#b", "https://github.com/a b", "https://github.com/ä", "https://github.com/a\\b", "https://GITHUB.com/a", "https://github.com/'"} {
		if _, _, ok := plainURL(s); ok {
			t.Errorf("%s is told at sight", s)
		}
	}
}

// TestPlainFiles does the same for files on this machine.
func TestPlainFiles(t *testing.T) {
	p := New(Options{})
	for _, s := range []string{"file:///srv/git/r/blob/HEAD/a.yaml", "file:///", "file:///a/%20b/c-d_e.f/", "file:///a//b", "file:///blob/x~y+z@1!$&()*,;="} {
		host, path, ok := plainURL(s)
		u, err := p.parse(s)
		if err != nil || !ok || u.Host() != "" || u.Scheme()+"://"+u.Username()+":"+u.Password()+"@" != host || u.Pathname() != path || u.Href(false) != s {
			t.Errorf("%s: %s %s %v, want %s, %v", s, host, path, ok, u.Pathname(), err)
		}
		if got := p.addressesOf(Location{TypeURL, s}); got != (addresses{view: s}) {
			t.Errorf("%s: %+v", s, got)
		}
	}
	for _, s := range []string{"file://host/a", "file:////a", "file:///C:/a", "file:///C|/a", "file:///a/../b", "file:///a?b", "file:///a#b", "file:///ä", "file:/a", "FILE:///a", "file:///a\\b"} {
		if _, _, ok := plainURL(s); ok {
			t.Errorf("%s is told at sight", s)
		}
	}
	base := Location{TypeURL, "file:///srv/r/blob/HEAD/"}
	for _, s := range []string{"file:///srv/r/blob/HEAD/a/b.yaml", "file:///srv/r/blob/HEAD/./a/b.yaml", "FILE:///srv/r/blob/HEAD/a/b.yaml"} {
		if name, ok := p.Within(base, Location{TypeURL, s}); !ok || name != "a/b.yaml" {
			t.Errorf("%s: %q %v", s, name, ok)
		}
	}
}
