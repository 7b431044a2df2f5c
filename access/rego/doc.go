// Package rego is policy as code: files in OPA's language that are asked about
// every act once the rules of access allow it. It is the only package that
// imports OPA. Policies reach nothing outside: they see the act, the data files
// beside them and the time, and nothing else.
package rego
