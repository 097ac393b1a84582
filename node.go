package weir

import (
	"context"
	"time"
)

// Node is a machine.
type Node struct {
	Name string
	// Labels are what tasks can ask for.
	Labels map[string]string
	// Capacity is how many tasks of a service the node runs at once, over all
	// its workers. A service that is not named has no limit of its own.
	Capacity map[string]int
}

// RegisterNode adds a node, or changes its labels and capacity.
func (c *Client) RegisterNode(ctx context.Context, n Node) error {
	labels, capacity := n.Labels, n.Capacity
	if labels == nil {
		labels = map[string]string{}
	}
	if capacity == nil {
		capacity = map[string]int{}
	}
	return c.command(ctx, "register node", `select weir.register_node($1, $2, $3)`, n.Name, labels, capacity)
}

// Mode says what a node's workers may do.
type Mode string

// The modes of a node.
const (
	Active   Mode = "active"
	Draining Mode = "draining" // finish what runs, claim nothing
	Paused   Mode = "paused"   // claim nothing
)

// SetNodeMode drains, pauses or activates a node. The mode ends by itself at
// until, unless that is zero.
func (c *Client) SetNodeMode(ctx context.Context, node string, mode Mode, until time.Time, d Decision) error {
	var end *time.Time
	if !until.IsZero() {
		end = &until
	}
	return c.command(ctx, "set node mode", `select weir.set_node_mode($1, $2, nullif($3, ''), $4, nullif($5, ''))`, node, mode, d.Reason, end, d.By)
}

// SetNode changes what a node is and how much it does at once, while it runs.
// What is nil stays as it is; what its agent registers at its next start comes
// after it.
func (c *Client) SetNode(ctx context.Context, n Node, by string) error {
	return c.command(ctx, "set node", `select weir.set_node($1, $2, $3, nullif($4, ''))`, n.Name, n.Labels, n.Capacity, by)
}

// DropNode removes a node that is gone for good, with its credential and how it is
// woken. It is refused while its agent lives or holds leases.
func (c *Client) DropNode(ctx context.Context, node, by string) error {
	return c.command(ctx, "drop node", `select weir.drop_node($1, nullif($2, ''))`, node, by)
}
