package findings_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/findings"
)

// TestOneSourceCostsNoMoreThanItMay holds that a repository whose files say
// much, which takes it next to nothing, is looked at up to a bound, from its
// root on, whatever was kept of it before.
func TestOneSourceCostsNoMoreThanItMay(t *testing.T) {
	large := "test:\n\tgo test ./...\n" + strings.Repeat("# "+strings.Repeat("x", 1000)+"\n", 1000)
	files := map[string]string{"zz/Makefile": "test:\n\tmake near\n"}
	for i := range 40 {
		files[fmt.Sprintf("deep/er/%02d/Makefile", i)] = large
	}
	f, s := findings.New(nil), newSource(t, "bomb", files)
	s.follow(f)
	read := func() (n int) {
		for i := range 40 {
			n += s.Reads(fmt.Sprintf("deep/er/%02d/Makefile", i))
		}
		return n
	}
	if most := findings.MaxBytes/len(large) + 1; read() > most || read() < most-1 || s.Reads("zz/Makefile") != 1 {
		t.Errorf("%d large files were read, and the small one nearer to the root %d times", read(), s.Reads("zz/Makefile"))
	}
	if c := f.Of("bomb").Commands("zz"); len(c) == 0 {
		t.Error("nothing is known of the folder nearest to the root")
	}
	before := read()
	s.Write(map[string]string{"zz/Makefile": "test:\n\tmake nearer\n"})
	s.follow(f)
	if read() != before {
		t.Errorf("%d files were read again", read()-before)
	}
	gone := map[string]string{}
	for i := range 10 {
		gone[fmt.Sprintf("deep/er/%02d/Makefile", i)] = "" // removes it
	}
	s.Write(gone)
	s.follow(f)
	if s.Reads("deep/er/39/Makefile") != 1 {
		t.Error("what has room now is not read")
	}
}
