package redis

import (
	"strings"
	"testing"
)

func TestConfig(t *testing.T) {
	good := Config{Name: "main", URL: "rediss://admin@cache.test:6379", PasswordEnv: "P", PreviewURL: "redis://10.0.0.1"}
	if ps := good.Validate(); len(ps) > 0 {
		t.Errorf("refused: %v", ps)
	}
	for want, change := range map[string]func(*Config){
		"name: \"M\" is no name":                func(c *Config) { c.Name = "M" },
		"url: it is no redis:// or":             func(c *Config) { c.URL = "http://cache.test" },
		"url: it is no redis:// or rediss://":   func(c *Config) { c.URL = "redis:///0" },
		"url: it holds a password":              func(c *Config) { c.URL = "redis://a:secret@cache.test" },
		"url: it names another database":        func(c *Config) { c.URL = "redis://cache.test/1" },
		"url: it has parameters":                func(c *Config) { c.URL = "redis://cache.test?skip_verify=true" },
		"passwordFile: name passwordFile or":    func(c *Config) { c.PasswordEnv = "" },
		"passwordFile: name passwordFile":       func(c *Config) { c.PasswordFile = "f" },
		"previewURL: it names a user":           func(c *Config) { c.PreviewURL = "redis://u@cache.test" },
		"previewURL: it holds a password":       func(c *Config) { c.PreviewURL = "redis://u:p@cache.test" },
		"previewURL: it names another database": func(c *Config) { c.PreviewURL = "redis://cache.test/x" },
	} {
		c := good
		change(&c)
		ps := c.Validate()
		if len(ps) != 1 || !strings.HasPrefix(ps[0].Field+": "+ps[0].Message, want) {
			t.Errorf("%s: %v", want, ps)
		}
		if strings.Contains(ps[0].Message, "secret") {
			t.Errorf("the password is told: %v", ps)
		}
	}
}
