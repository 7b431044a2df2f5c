// Package realtest starts real servers for tests. Each runs on a free port of
// the loopback interface with its files in a temporary folder, belongs to the
// test process, and ends with it, however it ends.
//
// Under -short these tests are left out. With FAIRLEAD_REAL=1 a server that is
// not installed fails the test; otherwise the test is skipped and says what is
// missing and which of the scripts beside this installs or builds it.
package realtest

import (
	"os"
	"testing"
)

// need leaves the test out under -short, and where the server is missing
// skips or, where real servers are asked for, fails it.
func need(t testing.TB, server string, missing error) {
	t.Helper()
	switch {
	case testing.Short():
		t.Skipf("%s: real servers are left out under -short", server)
	case missing == nil:
	case os.Getenv("FAIRLEAD_REAL") == "1":
		t.Fatalf("%s is asked for by FAIRLEAD_REAL=1 but missing: %v", server, missing)
	default:
		t.Skipf("%s is missing: %v", server, missing)
	}
}
