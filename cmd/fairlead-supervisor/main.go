// Command fairlead-supervisor runs one local preview, for fairleadd, which takes
// it in its own place where it finds it beside itself: it holds nothing but
// what that needs, and so takes little memory.
package main

import (
	"fmt"
	"os"

	"github.com/fairlead-dev/fairlead/previews/local"
)

func main() {
	code, ran := local.Main(os.Args[1:])
	if !ran {
		fmt.Fprintln(os.Stderr, "fairlead-supervisor is started by fairleadd, for local previews; there is nothing to be done with it by hand")
		code = 2
	}
	os.Exit(code)
}
