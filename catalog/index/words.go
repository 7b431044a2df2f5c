package index

import "github.com/fairlead-dev/fairlead/catalog/entity"

// words adds the rows of the index of words.
func (w *walker) words(*entity.Entity) {}
