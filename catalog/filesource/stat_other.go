//go:build !linux

package filesource

import "io/fs"

// identity has nothing to add to size and modification time here.
func identity(fs.FileInfo) (inode uint64, changed int64) { return 0, 0 }

const noWait = 0
