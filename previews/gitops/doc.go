// Package gitops deploys previews by commits, for those who let nobody write
// to Argo CD's API: the applications that package argocd makes are files of a
// repository that an Argo CD watches, and what became of them is read from that
// Argo CD.
package gitops
