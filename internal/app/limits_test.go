package app

import (
	"strings"
	"testing"
)

// TestRaisedLimitIsFollowed raises the limit that kept a repository's catalog file
// out, as its error says to, and restarts: no commit is needed.
func TestRaisedLimitIsFollowed(t *testing.T) {
	s, set := newDemo(t, "127.0.0.1:0")
	config := readFile(t, set.Config)
	const source = "{name: ledger, git: {"
	write(t, set.Config, strings.Replace(config, source, source+"limits: {fileBytes: 100}, ", 1))
	s.start(set.Config)
	s.nowhere("component:default/ledger")
	s.reported("ledger", "too large")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	write(t, set.Config, config)
	s.start(set.Config)
	s.await("the file is read", func() bool { return s.doors("component:default/ledger")["rest"] != "" })
	s.everywhere("component:default/ledger", "Books every movement of money, for good.")
	s.unreported("ledger")
}
