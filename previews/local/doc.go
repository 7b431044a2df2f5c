// Package local deploys previews on the machine that Fairlead runs on: the
// revision in a folder of its own, the declared command under a supervisor,
// reached through Fairlead at http://<id>.preview.localhost.
//
// A preview outlives Fairlead, because its supervisor does: a process of the
// same program that holds the folder's lock, keeps the logs, awaits health,
// enforces the limits and the time, and ends every descendant. All that is
// known of a preview is in its folder, so another process picks up there.
package local
