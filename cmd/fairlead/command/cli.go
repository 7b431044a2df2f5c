// Package command is the command line itself: its grammar, and what each
// command does.
package command

import (
	"time"
)

// cli is the grammar.
type cli struct {
	globals

	Get        getCmd        `cmd:"" help:"List entities, or show some of them."`
	Search     searchCmd     `cmd:"" help:"Search the catalog in words."`
	Brief      briefCmd      `cmd:"" help:"What to know before touching a service."`
	Deps       depsCmd       `cmd:"" help:"What an entity depends on, or what depends on it."`
	Catalog    catalogCmd    `cmd:"" help:"Check catalog files; errors, sources, locations and refreshing of a server's catalog."`
	Status     statusCmd     `cmd:"" help:"How the server is doing and who you are to it."`
	Knowledge  knowledgeCmd  `cmd:"" help:"Runbooks, documentation, decisions and answers: search, read, propose."`
	Creds      credsCmd      `cmd:"" help:"Credentials on loan: run a command with one, list, revoke."`
	Change     changeCmd     `cmd:"" help:"Changes proposed by pull request: list, show; edit files exactly."`
	Health     healthCmd     `cmd:"" help:"How a service is doing where it is deployed; exits with 1 unless it is well."`
	Code       codeCmd       `cmd:"" help:"Search the code of the services."`
	Approvals  approvalsCmd  `cmd:"" help:"Acts that wait for a person to agree: list, show, grant, deny."`
	Previews   previewsCmd   `cmd:"" help:"Running copies of services at a revision, which end by themselves."`
	Audit      auditCmd      `cmd:"" help:"Who did what, newest first."`
	Login      loginCmd      `cmd:"" help:"Note a server and a token for it."`
	Token      tokenCmd      `cmd:"" help:"Make tokens; tell what a token stands for."`
	MCP        mcpCmd        `cmd:"" name:"mcp" help:"Speak MCP on standard input and output, for clients that start their servers."`
	Hook       hookCmd       `cmd:"" help:"What agents' hosts call when a session begins."`
	Completion completionCmd `cmd:"" help:"Print a script that completes commands in a shell."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// globals are the flags that every command takes.
type globals struct {
	Server    string        `group:"all" help:"The server; else FAIRLEAD_SERVER, else the one logged in to, else http://127.0.0.1:7007." placeholder:"URL"`
	TokenFile string        `group:"all" help:"A file that holds the token; else FAIRLEAD_TOKEN_FILE, FAIRLEAD_TOKEN, or the login." placeholder:"FILE" predictor:"file"`
	Insecure  bool          `group:"all" help:"Let the token go over plain HTTP to another machine."`
	Timeout   time.Duration `group:"all" help:"How long to wait for the server, 1m if left out." default:"1m" placeholder:"DURATION"`
	Output    string        `short:"o" group:"all" help:"How to print: table (the default), json or yaml." default:"table" placeholder:"FORMAT" predictor:"format"`
}

// catalogCmd groups what is about the catalog as a whole.
type catalogCmd struct {
	Check      checkCmd         `cmd:"" help:"Tell everything that is wrong with catalog files, offline."`
	Health     catalogHealthCmd `cmd:"" help:"What is wrong with the catalog by owner: problems, conflicts, stale entities and broken relations."`
	Coverage   coverageCmd      `cmd:"" help:"Of which services something is not known that agents and people need, by team."`
	Errors     errorsCmd        `cmd:"" help:"The problems of the files that the server reads."`
	Refresh    refreshCmd       `cmd:"" help:"Have a source read again now."`
	Sources    sourcesCmd       `cmd:"" help:"Where the server's catalog comes from and how that is going."`
	Locations  locationsCmd     `cmd:"" help:"The locations that are registered, and the configured roots."`
	Register   registerCmd      `cmd:"" help:"Have a catalog file read from now on, or try what it would give."`
	Unregister unregisterCmd    `cmd:"" help:"Take back a registered location and what only it gave."`
}
