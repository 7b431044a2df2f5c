// Command fairlead is the command line of Fairlead: a client of a server, and
// what needs none.
package main

import (
	"os"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/command"
)

var version = "dev" // set by the linker

func main() {
	os.Exit(command.Main(os.Args[1:], command.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Environ: os.Environ, Version: version,
	}))
}
