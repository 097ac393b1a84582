package httpapi

import (
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/rollout"
)

// rolloutRoutes are about databases and the changes that are brought to them.
func rolloutRoutes() []Route {
	return []Route{
		{get, "/databases", auth.Read, "database", Granted, "List databases", handle((*API).listDatabases)},
		{get, "/databases/{database}", auth.Read, "database", Granted, "Show a database; its address is never shown", handle((*API).showDatabase)},
		{put, "/databases/{database}", auth.Manage, "database", Granted, "Register a database or change what is known of it, and look at it", handle((*API).putDatabase)},
		described(rollout.DropDatabase),
		described(rollout.CheckDatabase),
		{get, "/databases/{database}/history", auth.Read, "database", Granted, "List what is applied, newest first, from the database itself", handle((*API).databaseHistory)},
		described(rollout.ShowForeign),
		described(rollout.ImportHistory),
		described(rollout.ShowDrift),
		described(rollout.AcceptDrift),

		{get, "/rollouts", auth.Read, "rollout", Granted, "List rollouts, newest first", handle((*API).listRollouts)},
		{post, "/rollouts", auth.Submit, "rollout", Granted, "Create a rollout: freeze a plan. It waits to be started", large(creates(handle((*API).createRollout)))},
		{post, "/rollouts/preview", auth.Submit, "rollout", Granted, "Say what a plan would do: order, locks, warnings, what is applied already", large(handle((*API).previewRollout))},
		described(rollout.Show),
		{put, "/rollouts/{rollout}", auth.Submit, "rollout", Granted, "Put another plan in the place of one of which nothing has run: a new rollout, without approvals", large(creates(handle((*API).replaceRollout)))},
		described(rollout.ShowChange),
		described(rollout.Start),
		described(rollout.Pause),
		described(rollout.Resume),
		described(rollout.Abort),
		described(rollout.Promote),
		described(rollout.Approve),
		described(rollout.Revoke),
		{get, "/rollouts/{rollout}/tasks", auth.Read, "rollout", Granted, "List tasks of a rollout in the order of the plan", handle((*API).rolloutTasks)},
		described(rollout.ShowTask),
		described(rollout.ShowRun),
		described(rollout.Retry),
		described(rollout.Cancel),
		described(rollout.Skip),
		described(rollout.Resolve),
	}
}
