// Package render writes answers for people, as aligned tables and pages, and
// for programs, as JSON and YAML.
package render
