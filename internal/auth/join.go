package auth

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/problem"
)

const (
	joinTTL     = time.Hour
	mostJoinTTL = 30 * 24 * time.Hour
	// mostSlots is the most that the database accepts for a service of a node.
	mostSlots = 999_999
)

// Join lets one machine become a node, once.
type Join struct {
	ID string `json:"id"`
	// Node is the name that the machine must use. If empty, it may use any free name.
	Node string `json:"node,omitempty"`
	Bound
	By        string    `json:"by"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Bound restricts what a node may be; the author of the join token sets it. A nil field
// leaves the choice to the node: then anyone who has its credential can claim work in its
// name that was meant for other nodes.
type Bound struct {
	// Labels are the labels of the node, whatever its agent reports.
	Labels map[string]string `json:"labels,omitzero"`
	// Services are the services that the node may serve, with the most slots of each.
	Services map[string]int `json:"services,omitzero"`
}

// NewJoin describes a join token to create.
type NewJoin struct {
	// Node is the name of the node. With a name, the machine replaces the one that has it
	// now; without, the machine must choose a free name.
	Node string
	Bound
	// Any lets the node itself declare everything that Bound leaves open. It must be set
	// explicitly, because anyone who has the credential of such a node can claim all work
	// there is.
	Any bool
	// TTL is the lifetime; zero means an hour.
	TTL time.Duration
}

// NodeCredential is a node that joined.
type NodeCredential struct {
	Node string `json:"node"`
	Bound
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"`
}

func checkNode(name string) error {
	if c := utf8.RuneCountInString(name); c < 1 || c > 200 || !utf8.ValidString(name) || oneLine(name, 200) != name {
		return problem.Refuse("node", "the name of the machine, for example pc1", "a node has a name of 1 to 200 characters")
	}
	return nil
}

// CreateJoin makes a join token. Its secret is returned only here.
func (s *Store) CreateJoin(ctx context.Context, by Subject, n NewJoin) (secret string, err error) {
	if err := Allow(by, Manage, Object{Kind: "join"}); err != nil {
		return "", err
	}
	if n.TTL == 0 {
		n.TTL = joinTTL
	}
	if n.TTL < time.Second || n.TTL > mostJoinTTL {
		return "", problem.Refuse("ttl", "for example 1h", "a join token lives between a second and 30 days")
	}
	if n.Node != "" {
		if err := checkNode(n.Node); err != nil {
			return "", err
		}
	}
	if err := n.check(); err != nil {
		return "", err
	}
	switch named := n.Labels != nil || n.Services != nil; {
	case !named && !n.Any:
		return "", problem.Refuse("services", "name services (--service renderer=2) or labels (--labels zone=eu) of the node, or say --any: it then takes any work",
			"a join token names services or labels, or says that the node may do any work")
	case named && n.Any:
		return "", problem.Refuse("any", "leave out one of them", "a node that may do any work is bound to no services and no labels")
	}
	secret = newSecret(joinSecret)
	hash, err := hashOf(joinSecret, secret)
	if err != nil {
		return "", err
	}
	err = s.tx(ctx, "create join token", func(tx pgx.Tx) error {
		var id string
		if err := tx.QueryRow(ctx, `
			insert into weir.joins (hash, id, node, labels, services, made_by, created_at, expires_at)
			select $2, weir._id(t), nullif($3, ''), $4, $5, $6, t, t + $7::interval from coalesce($1, now()) t returning id::text`,
			s.clock(), hash, n.Node, n.Labels, n.Services, by.By(), n.TTL).Scan(&id); err != nil {
			return err
		}
		return s.note(ctx, tx, event{by: by, typ: "join_created", subject: n.Node, message: "join token created", data: n.say(map[string]any{"join": id})})
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// check refuses bounds that no node could register with.
func (b Bound) check() error {
	for service, slots := range b.Services {
		if service == "" || slots < 0 || slots > mostSlots {
			return problem.Refuse("services", "give names and slots, such as renderer=2", "%.120q=%d is no service with 0 to %d slots", service, slots, mostSlots)
		}
	}
	if _, empty := b.Labels[""]; empty {
		return problem.Refuse("labels", "give names and values, such as zone=eu", "a label has a name")
	}
	return nil
}

// say adds the bound to the data of an event.
func (b Bound) say(data map[string]any) map[string]any {
	if b.Labels != nil {
		data["labels"] = b.Labels
	}
	if b.Services != nil {
		data["services"] = b.Services
	}
	return data
}

// Joins lists the join tokens that are not used yet.
func (s *Store) Joins(ctx context.Context, by Subject) ([]Join, error) {
	if err := Allow(by, Read, Object{Kind: "join"}); err != nil {
		return nil, err
	}
	return collect(ctx, s.pool, "list join tokens", func(j *Join) []any {
		return []any{&j.ID, &j.Node, &j.Labels, &j.Services, &j.By, &j.CreatedAt, &j.ExpiresAt}
	}, `
		select id::text, coalesce(node, ''), labels, services, made_by, created_at, expires_at from weir.joins where expires_at > coalesce($1, now()) order by id limit 1000`, s.clock())
}

// RevokeJoin revokes a join token.
func (s *Store) RevokeJoin(ctx context.Context, by Subject, id string) error {
	if err := Allow(by, Manage, Object{Kind: "join"}); err != nil {
		return err
	}
	return s.tx(ctx, "revoke join token", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `delete from weir.joins where id::text = $1`, id)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return problem.New(problem.NotFound, "it may have been used", "there is no such join token")
		}
		return s.note(ctx, tx, event{by: by, typ: "join_revoked", message: "join token revoked", data: map[string]any{"join": id}})
	})
}

// Join uses a join token up and returns the credential of the node. An earlier credential
// of a node of this name is invalid from now on.
func (s *Store) Join(ctx context.Context, secret, node string) (credential string, err error) {
	hash, err := hashOf(joinSecret, secret)
	if err != nil {
		return "", err
	}
	if err := checkNode(node); err != nil {
		return "", err
	}
	credential = newSecret(nodeSecret)
	made, err := hashOf(nodeSecret, credential)
	if err != nil {
		return "", err
	}
	err = s.tx(ctx, "join", func(tx pgx.Tx) error {
		var named string
		var bound Bound
		err := tx.QueryRow(ctx, `
			delete from weir.joins where hash = $2 and expires_at > coalesce($1, now()) returning coalesce(node, ''), labels, services`,
			s.clock(), hash).Scan(&named, &bound.Labels, &bound.Services)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return refused(joinSecret)
		case err != nil:
			return err
		case named != "" && named != node:
			return problem.New(problem.Forbidden, "join as that node, or ask for another join token", "the join token is for the node %q", named)
		}
		// A token for any node must not take a node over.
		tag, err := tx.Exec(ctx, `
			insert into weir.node_credentials as c (node, hash, labels, services, created_at) values ($2, $3, $5, $6, coalesce($1, now()))
			on conflict (node) do update set hash = excluded.hash, labels = excluded.labels, services = excluded.services, created_at = excluded.created_at, used_at = null
			where $4`, s.clock(), node, made, named != "", bound.Labels, bound.Services)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return problem.New(problem.Conflict, "choose another name, or ask for a join token for this node", "there is a node %q already", node)
		}
		return s.note(ctx, tx, event{by: Subject{Kind: KindNode, Name: node}, typ: "joined", subject: node, message: "joined", data: bound.say(map[string]any{})})
	})
	if err != nil {
		return "", err
	}
	return credential, nil
}

// Node returns the node that a credential belongs to.
func (s *Store) Node(ctx context.Context, credential string) (Subject, error) {
	hash, err := hashOf(nodeSecret, credential)
	if err != nil {
		return Subject{}, err
	}
	var name string
	var touch bool
	err = s.pool.QueryRow(ctx, `
		select node, coalesce(used_at < t - $3::interval, true) from weir.node_credentials, coalesce($1, now()) t where hash = $2`,
		s.clock(), hash, touchEvery).Scan(&name, &touch)
	if errors.Is(err, pgx.ErrNoRows) {
		return Subject{}, refused(nodeSecret)
	}
	if err != nil {
		return Subject{}, fmt.Errorf("read node credential: %w", err)
	}
	if touch {
		// A failed update of the last use does no harm: the next request tries again.
		if _, err := s.pool.Exec(ctx, `
			update weir.node_credentials set used_at = coalesce($1, now()) where hash = $2 and (used_at is null or used_at < coalesce($1, now()) - $3::interval)`, s.clock(), hash, touchEvery); err != nil {
			s.log.Warn("note the use of a node credential", "error", err)
		}
	}
	return Subject{Kind: KindNode, ID: name, Name: name}, nil
}

// NodeCredentials lists the nodes that joined, by name.
func (s *Store) NodeCredentials(ctx context.Context, page Page) ([]NodeCredential, error) {
	return collect(ctx, s.pool, "list node credentials", func(c *NodeCredential) []any { return []any{&c.Node, &c.Labels, &c.Services, &c.CreatedAt, &c.UsedAt} }, `
		select node, labels, services, created_at, used_at from weir.node_credentials where node collate "C" > $1 order by node collate "C" limit $2`, page.After, page.limit())
}

// RevokeNode invalidates the credential of a node. The node has to join again.
func (s *Store) RevokeNode(ctx context.Context, by Subject, node string) error {
	if err := Allow(by, Manage, Object{Kind: "node"}); err != nil {
		return err
	}
	return s.tx(ctx, "revoke node", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `delete from weir.node_credentials where node = $1`, node)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return problem.New(problem.NotFound, "", "no node %q has joined", oneLine(node, 200))
		}
		return s.note(ctx, tx, event{by: by, typ: "node_revoked", subject: node, message: "credential revoked"})
	})
}
