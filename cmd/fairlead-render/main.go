// Command fairlead-render renders manifests before and after one change, for
// fairleadd, which starts it beside itself: what templates take of time and
// memory is taken here.
package main

import (
	"fmt"
	"os"

	"github.com/fairlead-dev/fairlead/gitops/render/engine"
	"github.com/fairlead-dev/fairlead/gitops/render/wire"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] != wire.Word && os.Args[1] != wire.Ahead {
		fmt.Fprintln(os.Stderr, "fairlead-render is started by fairleadd, for changes that are proposed; there is nothing to be done with it by hand")
		os.Exit(2)
	}
	os.Exit(engine.Main(os.Stdin, os.Stdout, os.Args[1] == wire.Ahead))
}
