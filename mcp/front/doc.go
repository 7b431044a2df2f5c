// Package front stands before the library that speaks the Model Context
// Protocol. It lets in who may come in, within bounds of size, number and
// time, keeps sessions with those who opened them, puts errors as faults, and
// writes the streams that clients listen to. What the library gets to see is
// one message of a known caller.
package front
