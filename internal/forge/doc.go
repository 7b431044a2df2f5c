// Package forge is what the clients of forges have in common: what they list
// and report, the budget that keeps them within their hosts' limits, the wire
// they speak over, and the checks of webhooks. Each forge's own package is the
// only one that imports its library.
package forge
