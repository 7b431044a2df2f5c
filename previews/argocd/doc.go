// Package argocd deploys previews by Argo CD: an application for each, which
// holds the service at the commit, and the namespace that it lives in with the
// guards around it. It knows Argo CD by the few things that it asks of it.
package argocd
