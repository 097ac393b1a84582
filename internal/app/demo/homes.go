package demo

import (
	"context"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// homesLook is how often it is looked whether there is somebody to have workspaces.
const homesLook = 2 * time.Second

// Homes are the workspaces of the demo: one that runs until nobody has used it for a
// while, and one that sleeps in the bucket until somebody opens it.
var Homes = []workspace.Draft{
	{Name: "playground", Description: "files, a terminal and an editor; it stops when nobody uses it", Desired: ladder.Running, Key: "demo:playground"},
	{Name: "sleeper", Description: "archived; open it, and it comes back", Desired: ladder.Archived, Key: "demo:sleeper"},
}

// Workspaces makes the workspaces of the demo once there is somebody to have them: owner
// says who, zero for nobody yet.
func (d *Demo) Workspaces(store *workspace.Store, provider string, owner func(context.Context) (weir.ID, error)) {
	made := false
	d.group.Go(func() {
		var runner loop.Runner
		runner.Log = d.log
		runner.Run(d.life, loop.Loop{Name: "demo workspaces", Every: homesLook, Tick: func(ctx context.Context, _ time.Time) (bool, error) {
			if made {
				return false, nil
			}
			who, err := owner(ctx)
			if err != nil || who.IsZero() {
				return false, err
			}
			for _, home := range Homes {
				home.Owner, home.Provider = who, provider
				if _, _, err := store.Create(ctx, "demo", home); err != nil {
					return false, err
				}
			}
			made = true
			return false, nil
		}})
	})
}
