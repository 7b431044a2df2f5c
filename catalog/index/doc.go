// Package index holds the catalog in memory: an immutable snapshot of every
// entity with the search rows that Backstage would write for it, and the
// questions that can be asked of them. A change makes a new snapshot that
// shares all it can with the one before.
package index
