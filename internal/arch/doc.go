// Package arch holds the program to its design: who may import whom, the one
// shape of operations, and the house numbers. It has tests only.
package arch
