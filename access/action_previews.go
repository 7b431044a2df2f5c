package access

// The actions of previews. Each is done to the service that a preview is of.
const (
	// ReadPreviews is reading previews, what happened to them and what they
	// wrote.
	ReadPreviews Action = "previews.read"
	// CreatePreview is having a service run at a revision.
	CreatePreview Action = "previews.create"
	// ExtendPreview is putting off a preview's end.
	ExtendPreview Action = "previews.extend"
	// DeletePreview is having a preview removed before its end.
	DeletePreview Action = "previews.delete"
	// ReadStrays is looking for what is there of previews that are not known.
	// Like SweepPreviews it is done to no entity, so that a rule that allows it
	// must allow it on everything.
	ReadStrays Action = "previews.strays"
	// SweepPreviews is removing that.
	SweepPreviews Action = "previews.sweep"
	// ForcePreview is removing by force what keeps a preview from going.
	ForcePreview Action = "previews.force"
)
