// Package redis gives previews caches of their own in a Redis server: for each
// a user that the server lets at keys and channels of one prefix alone, both
// made of the preview's id, and user and keys removed at the end.
package redis
