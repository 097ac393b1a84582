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
		{del, "/databases/{database}", auth.Manage, "database", Granted, "Forget a database and its address", handle((*API).dropDatabase)},
		{post, "/databases/{database}/check", auth.Manage, "database", Granted, "Connect: say which database it is and what is applied there", handle((*API).checkDatabase)},
		{get, "/databases/{database}/history", auth.Read, "database", Granted, "List what is applied, newest first, from the database itself", handle((*API).databaseHistory)},
		{get, "/databases/{database}/foreign", auth.Read, "database", Granted, "Show the history that goose, Flyway or golang-migrate left in a database", handle((*API).foreignHistory)},
		{post, "/databases/{database}/import", auth.Manage, "database", Granted, "Take that history over", handle((*API).importHistory)},
		{get, "/databases/{database}/drift", auth.Read, "database", Granted, "Compare the schema with the one that was last accepted", handle((*API).databaseDrift)},
		{post, "/databases/{database}/drift/accept", auth.Manage, "database", Granted, "Accept the schema as it is", handle((*API).acceptDrift)},

		{get, "/rollouts", auth.Read, "rollout", Granted, "List rollouts, newest first", handle((*API).listRollouts)},
		{post, "/rollouts", auth.Submit, "rollout", Granted, "Create a rollout: freeze a plan. It waits to be started", large(creates(handle((*API).createRollout)))},
		{post, "/rollouts/preview", auth.Submit, "rollout", Granted, "Say what a plan would do: order, locks, warnings, what is applied already", large(handle((*API).previewRollout))},
		{get, "/rollouts/{rollout}", auth.Read, "rollout", Granted, "Show a rollout with its stages, changes and warnings", handle((*API).showRollout)},
		{put, "/rollouts/{rollout}", auth.Submit, "rollout", Granted, "Put another plan in the place of one of which nothing has run: a new rollout, without approvals", large(creates(handle((*API).replaceRollout)))},
		{get, "/rollouts/{rollout}/changes/{change}", auth.Read, "rollout", Granted, "Show a change with its SQL", handle((*API).showChange)},
		described(rollout.Start),
		described(rollout.Pause),
		described(rollout.Resume),
		described(rollout.Abort),
		described(rollout.Promote),
		described(rollout.Approve),
		described(rollout.Revoke),
		{get, "/rollouts/{rollout}/tasks", auth.Read, "rollout", Granted, "List tasks of a rollout in the order of the plan", handle((*API).rolloutTasks)},
		{get, "/rollouts/{rollout}/tasks/{task}", auth.Read, "rollout", Granted, "Show a task: one change for one database", handle((*API).showRolloutTask)},
		{get, "/rollouts/{rollout}/tasks/{task}/runs/{attempt}", auth.Read, "rollout", Granted, "Show a run: statements, waits, sessions, who blocks whom", handle((*API).showRun)},
		described(rollout.Retry),
		described(rollout.Cancel),
		described(rollout.Skip),
		described(rollout.Resolve),
	}
}
