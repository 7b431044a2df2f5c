package catalog

import "time"

// GetServiceBriefInput names a service and how much to say about it.
type GetServiceBriefInput struct {
	Service    string `json:"service,omitempty" jsonschema:"bare name or entity reference of the service"`
	Repository string `json:"repository,omitempty" jsonschema:"URL of the Git repository instead, in any form"`
	// Path narrows rules and commands to the folder that is nearest above it,
	// and tells the components of one repository apart.
	Path      string   `json:"path,omitempty" jsonschema:"file or folder inside the repository"`
	Sections  []string `json:"sections,omitempty" jsonschema:"only these: owner, oncall, repository, commands, rules, deploy, dependencies, slos, runbooks, dashboards, problems"`
	MaxTokens int      `json:"max_tokens,omitempty" jsonschema:"bound of the answer, 100 to 8000, default 1200"`
}

// FactKind says whether somebody stated a fact or Fairlead found it.
type FactKind string

// Declared facts are written in the catalog file; inferred ones were found.
const (
	Declared FactKind = "declared"
	Inferred FactKind = "inferred"
)

// FactSource is where a fact is written.
type FactSource struct {
	Repo   string `json:"repo,omitempty"`
	Commit string `json:"commit,omitempty"`
	Path   string `json:"path,omitempty"`
	Line   int    `json:"line,omitempty"`
}

// Fact is one thing known about a service and where it stands. Name, Path,
// App and Protected are set where the kind of fact has them: the name of an
// environment, the title of a link or the type of a relation; the folder of an
// environment in its deploy repository; its Argo CD application as
// instance/name; and whether it is protected. ChangedAt is the author time of
// the newest commit that changed the file, zero until it is known for certain;
// ExpiresAt is two years after it. Owner is who answers for the fact where that
// is another than the service's own owner. Handle names a document, in the form
// doc://source/path.
type Fact struct {
	Name       string     `json:"name,omitempty"`
	Value      string     `json:"value"`
	Path       string     `json:"path,omitempty"`
	App        string     `json:"app,omitempty"`
	Protected  bool       `json:"protected,omitempty"`
	Kind       FactKind   `json:"kind"`
	Handle     string     `json:"handle,omitempty"`
	Source     FactSource `json:"source"`
	Owner      string     `json:"owner,omitempty"`
	VerifiedAt time.Time  `json:"verifiedAt"`
	ChangedAt  time.Time  `json:"changedAt,omitzero"`
	ExpiresAt  *time.Time `json:"expiresAt,omitempty"`
	// Stale says why it may no longer hold, "" where nothing speaks against it.
	Stale string `json:"stale,omitempty"`
	// Disagrees is what other files say instead, each with its place.
	Disagrees []string `json:"disagrees,omitempty"`
	// argo tells how App is found.
	argo argoPlace
}

// Commands are how a service is worked on.
type Commands struct {
	Setup *Fact `json:"setup,omitempty"`
	Build *Fact `json:"build,omitempty"`
	Test  *Fact `json:"test,omitempty"`
	// TestOne is how to run the tests of one package, file or name.
	TestOne *Fact `json:"testOne,omitempty"`
	Lint    *Fact `json:"lint,omitempty"`
	Run     *Fact `json:"run,omitempty"`
}

// Brief is what one needs to know before touching a service.
type Brief struct {
	Ref         string    `json:"ref"`
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Owner       *Fact     `json:"owner,omitempty"`
	Oncall      *Fact     `json:"oncall,omitempty"`
	Repository  *Fact     `json:"repository,omitempty"`
	Commands    *Commands `json:"commands,omitempty"`
	// Rules are the files with rules for agents, the nearest first.
	Rules        []Fact   `json:"rules,omitempty"`
	DeployRepo   *Fact    `json:"deployRepo,omitempty"`
	Environments []Fact   `json:"environments,omitempty"`
	DependsOn    []Fact   `json:"dependsOn,omitempty"`
	DependencyOf []Fact   `json:"dependencyOf,omitempty"`
	SLOs         []Fact   `json:"slos,omitempty"`
	Runbooks     []Fact   `json:"runbooks,omitempty"`
	Dashboards   []Fact   `json:"dashboards,omitempty"`
	Problems     []string `json:"problems,omitempty"`
	// Unknown names the sections about which nothing is declared.
	Unknown []string `json:"unknown,omitempty"`
	// Omitted names what was left out to fit max_tokens, in the order dropped.
	Omitted []string `json:"omitted,omitempty"`
	// cut tells that DependencyOf is a part already.
	cut bool
}
