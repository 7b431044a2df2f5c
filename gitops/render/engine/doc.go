// Package engine renders manifests by Kustomize and Helm, before and after a
// change, and tells what differs. It runs in a process of its own, which
// gitops/render starts for each change: templates are programs, and one that
// loops or takes all memory ends that process alone. It reads no disk and no
// network: every file comes from who started it.
package engine
