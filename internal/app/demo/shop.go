package demo

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"

	"github.com/weirhq/weir/internal/rollout"
)

// shop is a folder of changes, as people keep them.
//
//go:embed shop/*.sql
var shop embed.FS

// Shops are the databases of the demo's rollout, by environment.
var Shops = map[string]string{"dev": "shop_dev", "staging": "shop_staging", "prod": "shop_prod"}

// Rollout registers the databases and begins to bring the changes to them, once.
// Production waits for a person. dsn says where a database is. It goes on in the
// background: reading SQL for the first time takes a second or two.
func (d *Demo) Rollout(store *rollout.Store, dsn func(name string) string) {
	go func() { // nobody waits for it at the end: reading cannot be interrupted
		if err := begin(d.life, store, dsn); err != nil && d.life.Err() == nil {
			d.log.Warn("the demo's rollout did not begin", "error", err)
		}
	}()
}

func begin(ctx context.Context, store *rollout.Store, dsn func(name string) string) error {
	for environment, name := range Shops {
		d := rollout.Database{Name: name, Engine: "postgres", Environment: environment, Note: "a database of the demo"}
		if _, err := store.PutDatabase(ctx, "demo", d, dsn(name)); err != nil {
			return fmt.Errorf("register %s: %w", name, err)
		}
	}
	plan := rollout.Plan{
		Name: "shop", Note: "customers, orders and an index", Parallel: 2,
		Stages: []rollout.Stage{{Name: "dev"}, {Name: "staging"}, {Name: "prod", Approvals: 1}},
	}
	err := fs.WalkDir(shop, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := shop.ReadFile(name)
		plan.Files = append(plan.Files, rollout.File{Name: path.Base(name), Text: string(text)})
		return err
	})
	if err != nil {
		return err
	}
	r, err := store.Create(ctx, "demo", plan, "demo:shop")
	if err != nil || r.State != rollout.StateNotStarted {
		return err
	}
	_, err = store.Start(ctx, "demo", r.ID)
	return err
}
