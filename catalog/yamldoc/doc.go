// Package yamldoc reads the YAML documents of a catalog file as the reference
// parser of Backstage does (npm yaml 2.9.1 with the core schema of YAML 1.2 and
// without merge keys; YAML 1.1 after %YAML 1.1), each value with the place where
// it was written.
//
// A file is cut into documents at its markers. In each document the scanner
// finds tokens by the reference parser's rules: it decodes scalars, drops
// comments and refuses what stands where it must not. What remains is the bare
// structure, which goes to yaml.v3 with a number in place of each scalar, anchor
// and tag, so that nothing of what the two parsers see differently reaches it.
// The builder makes values of the nodes that come back.
//
// Known differences, all in what no catalog file should hold:
//
//   - A key and its ":" on different lines without "? " are refused; the
//     reference parser takes some of them, and splits others into two keys.
//   - Text behind a finished value of a "? " key, and lines indented more than a
//     compact mapping behind "? ", are refused; the reference parser drops them.
//   - A single-quoted text whose only quote at the end is an escaped one, doubled,
//     is refused; the reference parser takes it.
//   - A "]" or "}" that closes nothing at the start of a document is a problem of
//     that document; the reference parser blames the one before it.
//   - A list behind a byte order mark is read; the reference parser loses count
//     of its columns.
//   - The name that a collection gets as a key may differ where it holds
//     comments, blank lines, long lines, control characters or odd numbers.
//   - A lone surrogate escape ("\ud800") becomes U+FFFD.
//   - An alias to a collection that it is part of is refused.
//   - Limits: 20,000 documents in a file, 500,000 tokens in a document, 1,000
//     levels, a million values through aliases, keys of collections up to 16,384
//     characters, binary values up to 1,048,576.
package yamldoc
