package registry

// Settle waits until nothing is under way.
func (c *Client) Settle() { c.running.Wait() }
