package httpapi

import "github.com/weirhq/weir/internal/rollout"

// rolloutRoutes are about databases and the changes that rollouts apply to them.
func rolloutRoutes() []Route {
	return []Route{
		lists(rollout.ListDatabases),
		defines(rollout.ShowDatabase),
		defines(rollout.PutDatabase),
		described(rollout.DropDatabase),
		described(rollout.CheckDatabase),
		lists(rollout.ListHistory),
		described(rollout.ShowForeign),
		described(rollout.ImportHistory),
		described(rollout.ShowDrift),
		described(rollout.AcceptDrift),

		lists(rollout.List),
		makes(rollout.Create),
		described(rollout.Foresee),
		described(rollout.Show),
		makes(rollout.Replace),
		described(rollout.ShowChange),
		described(rollout.Start),
		described(rollout.Pause),
		described(rollout.Resume),
		described(rollout.Abort),
		described(rollout.Promote),
		described(rollout.Approve),
		described(rollout.Revoke),
		lists(rollout.ListTasks),
		described(rollout.ShowTask),
		described(rollout.ShowRun),
		described(rollout.Retry),
		described(rollout.Cancel),
		described(rollout.Skip),
		described(rollout.Resolve),
	}
}
