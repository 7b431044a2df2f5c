// Package argo is the one package on Argo CD's client and on client-go: the
// applications of an instance, what they are made of, and what is left of
// them in a cluster.
package argo
