// Package gitops is the room of changes that are proposed: written to a branch
// of a Git repository, opened as a pull request, and followed until people
// merge or close it. Nothing in it merges.
package gitops
