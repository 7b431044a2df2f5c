// Package wire is what gitops/render and fairlead-render say to each other: one
// Order, then an Ask for each Reply, the last of which holds the Answer. Both
// are lines of JSON.
package wire

// Word is the argument of the program that serves an order; with Ahead it makes
// itself ready first, for one that comes later.
const (
	Word  = "serve"
	Ahead = "ahead"
)

// The most that the program takes of memory, in bytes, and its exit code where
// it would take more.
const (
	MaxMemory  = 512 << 20
	ExitMemory = 86
)

// The tools.
const (
	Kustomize = "kustomize"
	Helm      = "helm"
)

// Order is what is to be rendered. Paths are relative to the repository's root.
type Order struct {
	Tool string `json:"tool"`
	// Dir is the folder of the kustomization or the chart.
	Dir string `json:"dir"`
	// Values are the files of Helm values, the strongest last; those that are
	// missing are an error, unless Lenient.
	Values []string `json:"values,omitempty"`
	// Lenient leaves out those that are missing.
	Lenient bool `json:"lenient,omitempty"`
	// Release and Namespace are what charts are told they are released as.
	Release   string `json:"release,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Edited are the files that differ between the sides.
	Edited []string `json:"edited"`
	// MaxDiff bounds the diff, in bytes.
	MaxDiff int `json:"maxDiff"`
}

// The operations of an Ask.
const (
	Stat  = "stat"  // what is at Path
	Below = "below" // the files below the folder Path
	Begun = "begun" // rendering of Side begins; there is no reply
	Done  = "done"  // Answer is the answer; there is no reply
)

// The sides.
const (
	Before = 0
	After  = 1
)

// Ask is what the engine says.
type Ask struct {
	Op     string  `json:"op"`
	Side   int     `json:"side"`
	Path   string  `json:"path,omitempty"`
	Answer *Answer `json:"answer,omitempty"`
}

// The kinds of a Reply.
const (
	File    = "file"
	Folder  = "folder"
	Nothing = "nothing"
)

// Reply is what the engine is told.
type Reply struct {
	Kind  string   `json:"kind,omitempty"`
	Data  []byte   `json:"data,omitempty"`
	Names []string `json:"names,omitempty"`
	// Refused says why no more is told.
	Refused string `json:"refused,omitempty"`
}

// Answer is what came of it.
type Answer struct {
	// Before and After are why a side could not be rendered, "" where it could.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Beyond tells that it can be rendered, but not here: it is made of what is
	// elsewhere, or by what is not run here.
	Beyond bool `json:"beyond,omitempty"`
	// Changed, Added and Removed are resources, as Kind/name.
	Changed []string `json:"changed,omitempty"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Unstable are resources that differ each time they are rendered.
	Unstable []string `json:"unstable,omitempty"`
	// Diff is the unified diff, and Omitted how many bytes of it are left out.
	Diff    string `json:"diff,omitempty"`
	Omitted int    `json:"omitted,omitempty"`
}
