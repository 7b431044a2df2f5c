// Package postgres gives previews databases of their own in a PostgreSQL
// server: a database and a role for each, with names made of the preview's id,
// filled by the role itself from a file of the service's repository, and both
// dropped at the end.
package postgres
