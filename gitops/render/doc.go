// Package render has manifests rendered before and after a change by
// fairlead-render, a process of its own for each: it gives that the files it
// asks for, within bounds, and ends it where it takes too long.
package render
