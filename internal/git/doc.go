// Package git reads Git repositories as sources of catalog files, pushes
// commits to them, and answers what the command line asks of the repository
// around it. A repository on disk is read in place; a remote one is fetched
// shallowly into a folder of the server's, under limits. It is the one package
// on go-git.
package git
