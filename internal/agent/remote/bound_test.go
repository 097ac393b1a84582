package remote

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// joined returns the transport of a node that joined with a token that binds it.
func (r *rig) joined(name string, bound auth.Bound) *Transport {
	r.t.Helper()
	secret, err := r.auth.CreateJoin(r.t.Context(), system, auth.NewJoin{Node: name, Bound: bound, Any: len(bound.Labels)+len(bound.Services) == 0})
	if err != nil {
		r.t.Fatal(err)
	}
	t, err := Open(r.t.Context(), r.config(name), filepath.Join(r.t.TempDir(), "credential"), secret)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(t.Close)
	return t
}

// is returns the labels and the capacity of a node in the database.
func (r *rig) is(name string) (text string) {
	r.t.Helper()
	if err := r.db.Pool.QueryRow(r.t.Context(), `select labels || capacity from weir.nodes where name = $1`, name).Scan(&text); err != nil {
		r.t.Fatal(err)
	}
	return text
}

// keys returns the steps that a claim for everything gets.
func (r *rig) keys(t *Transport, id string) string {
	r.t.Helper()
	got, err := t.Claim(r.t.Context(), node.ClaimRequest{ID: id, Services: []string{"vault", "render", "never-named"}, Slots: []int{50, 50, 50}, N: 100})
	if err != nil {
		r.t.Fatal(err)
	}
	var keys []string
	for _, a := range got.Tasks {
		keys = append(keys, a.Key)
	}
	return strings.Join(keys, " ")
}

// all is what an attacker with the credential of a small node reports of it, to get the
// work of other nodes and the secrets that come with it.
var all = node.Info{Labels: map[string]string{"gpu": "true", "zone": "us"}, Capacity: map[string]int{"render": 50, "vault": 50}, Drivers: []string{"exec"}}

func TestANodeIsNoMoreThanItsTokenSays(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	ctx := t.Context()
	r.exec(`select weir.submit_job('[
		{"service": "vault", "key": "keys", "run": {"driver": "exec", "argv": ["true"], "secrets": {"K": "api_key"}}},
		{"service": "never-named", "key": "hidden"},
		{"service": "render", "key": "big", "labels": {"gpu": "true"}},
		{"service": "render", "key": "over-there", "labels": {"zone": "us"}},
		{"service": "render", "key": "here", "labels": {"zone": "eu"}},
		{"service": "render", "key": "one"}, {"service": "render", "key": "two"}, {"service": "render", "key": "three"}]', 'work')`)
	bound := auth.Bound{Labels: map[string]string{"zone": "eu"}, Services: map[string]int{"render": 2}}
	edge := r.joined("edge", bound)
	if err := edge.Register(ctx, all); err != nil {
		t.Fatal(err)
	}
	if got := r.is("edge"); got != `{"zone": "eu", "vault": 0, "render": 2}` {
		t.Errorf("it is %s", got)
	}
	var event string
	if err := r.db.Pool.QueryRow(ctx, `select level || ' ' || (data -> 'withheld') from weir.events where kind = 'node' and subject = 'edge' and type = 'registered'`).Scan(&event); err != nil ||
		event != `warn {"labels": {"gpu": "true", "zone": "us"}, "capacity": {"vault": 50, "render": 50}}` {
		t.Errorf("the timeline says %q, %v", event, err)
	}
	if got := r.keys(edge, claimOne); got != "here one" {
		t.Errorf("it got %q", got)
	}
	if got := r.keys(edge, claimTwo); got != "" {
		t.Errorf("it is full and got %q", got)
	}
	orders, err := edge.Heartbeat(ctx)
	if err != nil || orders.Labels["zone"] != "eu" || orders.Capacity["render"] != 2 || len(orders.Labels) != 1 {
		t.Errorf("it is told %+v, %v", orders, err)
	}
	err = edge.Register(ctx, node.Info{Capacity: map[string]int{"exec": 4, "vault": 1}})
	if err == nil {
		t.Fatal("it may do services that its token does not name")
	}
	p := problem.Explain(err)
	if p.Kind != problem.Invalid || !strings.Contains(p.What, "exec, vault") || !strings.Contains(p.Next, "--service render=2") || !strings.Contains(p.Next, "weir join create --node edge") {
		t.Errorf("services it may not do: %q, %q", p.What, p.Next)
	}
	// Another token for the node replaces its bound.
	edge = r.joined("edge", auth.Bound{Services: map[string]int{"render": 2, "vault": 1}})
	if err := edge.Register(ctx, all); err != nil {
		t.Fatal(err)
	}
	if got := r.is("edge"); got != `{"gpu": "true", "zone": "us", "vault": 1, "render": 2}` {
		t.Errorf("it is %s", got)
	}
	// Without a bound the node is what it reports.
	free := r.joined("free", auth.Bound{})
	if err := free.Register(ctx, all); err != nil {
		t.Fatal(err)
	}
	if got := r.keys(free, "01890a5d-ac96-774b-bcce-b302099a8003"); got != "keys hidden big over-there two three" {
		t.Errorf("it got %q", got)
	}
}

// Settings of an operator survive the next start of the agent of a bound node, but not of
// an unbound one.
func TestAnOperatorsWordOnABoundNode(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	bound := auth.Bound{Labels: map[string]string{"zone": "eu"}, Services: map[string]int{"render": 4, "vault": 4}}
	says := node.Info{Labels: map[string]string{"zone": "eu"}, Capacity: map[string]int{"render": 4}}
	for name, c := range map[string]struct {
		bound auth.Bound
		want  string
	}{
		"bound": {bound, `{"zone": "us", "render": 1}`},
		"free":  {auth.Bound{}, `{"zone": "eu", "render": 4}`},
	} {
		n := r.joined(name, c.bound)
		if err := n.Register(t.Context(), says); err != nil {
			t.Fatal(err)
		}
		r.exec(`select weir.set_node($1, '{"zone": "us"}', '{"render": 1}', by => 'boss')`, name)
		if got := r.is(name); got != `{"zone": "us", "render": 1}` {
			t.Errorf("%s was set to %s", name, got)
		}
		if err := n.Register(t.Context(), says); err != nil {
			t.Fatal(err)
		}
		if got := r.is(name); got != c.want {
			t.Errorf("%s started again is %s", name, got)
		}
	}
	var left json.RawMessage
	if err := r.db.Pool.QueryRow(t.Context(), `select services from weir.node_credentials where node = 'bound'`).Scan(&left); err != nil || string(left) != `{"vault": 4, "render": 1}` {
		t.Errorf("what it may do is %s, %v", left, err)
	}
}

// A node whose token is for other work gets no work on devices, and cannot take over
// devices of other PCs by reporting them.
func TestANodeThatMayServeNoDevices(t *testing.T) {
	t.Parallel()
	r := newRig(t, blobtest.Folder(t))
	ctx := t.Context()
	report := node.DeviceReport{Devices: []node.Device{{Serial: "A1"}, {Serial: "A2"}, {Serial: "A3"}}, Slots: 50}
	lab, edge := r.joined("lab", auth.Bound{Services: map[string]int{"fleet": 2}}), r.joined("edge", auth.Bound{Services: map[string]int{"render": 2}})
	if err := lab.Register(ctx, node.Info{Capacity: map[string]int{"fleet": 50}}); err != nil {
		t.Fatal(err)
	}
	if err := edge.Register(ctx, node.Info{Capacity: map[string]int{"render": 2}}); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Devices(ctx, report); err != nil {
		t.Fatal(err)
	}
	if _, err := edge.Devices(ctx, report); err == nil || problem.Explain(err).Kind != problem.Forbidden {
		t.Errorf("it took the devices of another: %v", err)
	}
	r.exec(`select weir.fleet_submit('x', '{"run": {"argv": ["true"]}, "target": {"all": true}}')`)
	for transport, want := range map[*Transport]int{edge: 0, lab: 2} {
		got, err := transport.Claim(ctx, node.ClaimRequest{ID: claimOne, Services: []string{"fleet", "render"}, Slots: []int{50, 50}, N: 100})
		if err != nil || len(got.Tasks) != want {
			t.Errorf("%s got %d, not %d: %v", transport.node, len(got.Tasks), want, err)
		}
	}
	var slots int
	if err := r.db.Pool.QueryRow(ctx, `select reported_slots from weir.pcs`).Scan(&slots); err != nil || slots != 2 {
		t.Errorf("the PC has %d slots, %v", slots, err)
	}
}
