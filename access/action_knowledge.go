package access

// SearchExternal is asking a provider outside, whom the words asked for reach.
// It is done to no entity, so that a rule that allows it must allow it on
// everything.
const SearchExternal Action = "knowledge.external"
