package render

// Ahead is the number of the process that waits for a change, 0 where none does.
func (r *Renderer) Ahead() int {
	r.spare.mu.Lock()
	defer r.spare.mu.Unlock()
	if r.spare.ready == nil {
		return 0
	}
	return r.spare.ready.cmd.Process.Pid
}
