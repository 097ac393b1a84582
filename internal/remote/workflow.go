package remote

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node/wake"
)

// SetWake says how a node is woken, and when it may sleep.
func (c *Client) SetWake(ctx context.Context, node string, m wake.Method) error {
	kind := m.Kind
	if kind == "" {
		kind = "none"
	}
	return c.put(ctx, nil, struct {
		Method     string   `json:"method"`
		MAC        string   `json:"mac,omitempty"`
		Broadcast  string   `json:"broadcast,omitempty"`
		Interface  string   `json:"interface,omitempty"`
		URL        string   `json:"url,omitempty"`
		Script     string   `json:"script,omitempty"`
		Args       []string `json:"args,omitempty"`
		Timeout    period   `json:"timeout,omitzero"`
		SleepAfter period   `json:"sleep_after,omitzero"`
	}{kind, m.MAC, m.Broadcast, m.Interface, m.URL, m.Script, m.Args, period(time.Duration(m.Timeout)), period(m.SleepAfter)}, "nodes", node, "wake")
}

// Wake wakes a node now. Waking it twice does no harm.
func (c *Client) Wake(ctx context.Context, node string) error {
	_, err := c.do(ctx, call{method: http.MethodPost, path: []string{"nodes", node, "wake"}}, nil)
	return err
}

// SetNode gives a node other labels or slots. Nil leaves as is. Who asks, the
// server knows.
func (c *Client) SetNode(ctx context.Context, n weir.Node, _ string) error {
	return c.put(ctx, nil, struct {
		Labels   map[string]string `json:"labels,omitzero"`
		Capacity map[string]int    `json:"capacity,omitzero"`
	}{n.Labels, n.Capacity}, "nodes", n.Name)
}
