package work

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/bulk"
	"github.com/weirhq/weir/internal/engine/view"
)

// Store is where operations on work are carried out.
type Store struct {
	// View reads, Client changes one thing, Bulk all that match a filter.
	View   *view.Store
	Client *weir.Client
	Bulk   *bulk.Doer
}

// New makes a store of a database and the SDK's client of it.
func New(pool *pgxpool.Pool, client *weir.Client) *Store {
	store := view.New(pool)
	return &Store{store, client, bulk.New(pool, client, store)}
}
