package app

import (
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// TestWhatLocationsMayRead holds what is read of which host, and with whose
// token: none goes to a repository that it was not given for.
func TestWhatLocationsMayRead(t *testing.T) {
	const text = `catalog:
  locations:
    hosts:
      - {host: "listed.example.com:8443", credentials: {tokenEnv: LISTED}}
  sources:
    - {name: one, git: {url: https://git.example.com/acme/one.git, ref: dev, include: [a.yaml], credentials: {tokenEnv: ONE}}}
    - {name: two, git: {url: "git@ssh.example.com:acme/two.git", credentials: {sshKeyFile: key}}}
    - {name: three, git: {url: ../three, webURL: https://disk.example.com/acme/three}}
    - {name: hub, github: {org: acme, tokenEnv: HUB}}
    - {name: tea, gitea: {url: https://example.com/tea, org: acme, tokenEnv: TEA}}
    - {name: lab, gitlab: {host: lab.example.com, group: acme/team, tokenEnv: LAB}}
`
	cfg, err := ParseConfig([]byte(text), "fairlead.yaml", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repositories{rules: cfg.readable()}
	for target, want := range map[string]string{ // name, URL, ref, token
		"https://git.example.com/acme/one/blob/main/x.yaml":             "registered/git.example.com/acme/one@main https://git.example.com/acme/one.git main ONE",
		"https://ssh.example.com/acme/two/blob/main/x.yaml":             "registered/ssh.example.com/acme/two@main git@ssh.example.com:acme/two.git main ",
		"https://disk.example.com/acme/three/blob/v1/x.yaml":            "registered/disk.example.com/acme/three@v1 ../three v1 ",
		"https://github.com/Acme/any/blob/main/x.yaml":                  "registered/github.com/Acme/any@main https://github.com/Acme/any.git main HUB",
		"https://github.com/acme-evil/any/blob/HEAD/x.yaml":             "registered/github.com/acme-evil/any@HEAD https://github.com/acme-evil/any.git  ",
		"https://example.com/tea/acme/any/src/branch/main/x.yaml":       "registered/example.com/tea/acme/any@main https://example.com/tea/acme/any.git main TEA",
		"https://example.com/tea/others/any/src/branch/main/x.yaml":     "registered/example.com/tea/others/any@main https://example.com/tea/others/any.git main ",
		"https://lab.example.com/acme/team/sub/any/-/blob/main/x.yaml":  "registered/lab.example.com/acme/team/sub/any@main https://lab.example.com/acme/team/sub/any.git main LAB",
		"https://lab.example.com/acme/teams/any/-/blob/main/x.yaml":     "registered/lab.example.com/acme/teams/any@main https://lab.example.com/acme/teams/any.git main ",
		"https://listed.example.com:8443/a/b/blob/main/x.yaml":          "registered/listed.example.com:8443/a/b@main https://listed.example.com:8443/a/b.git main LISTED",
		"https://example.com/acme/any/src/branch/main/x.yaml":           "",
		"https://listed.example.com/a/b/blob/main/x.yaml":               "",
		"https://git.example.com/acme/other/blob/main/x.yaml":           "",
		"https://github.com.evil.example.com/acme/any/blob/main/x.yaml": "",
		"https://evil.example.com/github.com/acme/any/blob/main/x.yaml": "",
		"https://github.com@evil.example.com/acme/any/blob/main/x.yaml": "",
		"https://github.com:444/acme/any/blob/main/x.yaml":              "",
		"http://github.com:443/acme/any/blob/main/x.yaml":               "",
	} {
		name, got, err := r.config(target)
		said := name + " " + got.URL + " " + got.Ref + " " + got.Credentials.TokenEnv
		if want == "" {
			if code := fault.CodeOf(err); code != fault.Forbidden && code != fault.Invalid {
				t.Errorf("%s is read: %s", target, said)
			}
			continue
		}
		if err != nil || said != want || len(got.Include) > 0 {
			t.Errorf("%s: %s, %v\nwant %s", target, said, err, want)
		}
	}
}

// TestWhatServesHosts holds what is known of the hosts of sources and forges,
// by which links to files are made.
func TestWhatServesHosts(t *testing.T) {
	const text = `catalog:
  forges: {lab.example.com: bitbucketServer, other.example.com: azure}
  sources:
    - {name: one, git: {url: https://git.example.com/acme/one.git}}
    - {name: two, git: {url: ../two, webURL: "http://Disk.example.com:3000/acme/two", forge: gitea}}
    - {name: tea, gitea: {url: https://example.com/tea, org: acme, tokenEnv: TEA}}
    - {name: lab, gitlab: {host: lab.example.com, group: acme/team, tokenEnv: LAB}}
forges: [{name: hub, github: {host: hub.example.com, tokenEnv: HUB}}]
`
	cfg, err := ParseConfig([]byte(text), "fairlead.yaml", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"lab.example.com": "bitbucketServer", "other.example.com": "azure", "git.example.com": "", "disk.example.com:3000": "gitea",
		"example.com": "gitea", "hub.example.com": "github", "github.com": "github",
	} {
		if got := (&App{cfg: cfg}).processor().Forge(host); got != want {
			t.Errorf("%s is served by %q, not %q", host, got, want)
		}
	}
}
