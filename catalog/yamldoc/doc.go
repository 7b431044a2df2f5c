// Package yamldoc reads the YAML documents of a catalog file as the reference
// parser of Backstage does (npm yaml 2.9.1 with the core schema of YAML 1.2 and
// without merge keys), each value with the place where it was written.
//
// Nodes come from yaml.v3; this package cuts the file into documents, resolves
// scalars, and checks what the two parsers see differently.
package yamldoc
