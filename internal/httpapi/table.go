package httpapi

import (
	"net/http"
	"slices"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

const (
	get   = http.MethodGet
	post  = http.MethodPost
	put   = http.MethodPut
	patch = http.MethodPatch
	del   = http.MethodDelete
)

// table lists every route: method, path, verb and kind, access, and handler. It is filled
// in init, because the reference page is made of it.
var table []Route

func init() {
	table = slices.Concat(workRoutes(), flowRoutes(), rolloutRoutes(), fleetRoutes(), workspaceRoutes(), orderRoutes(), machineRoutes(), wholeRoutes(), peopleRoutes(), agentRoutes(), aboutRoutes())
}

// workRoutes are about tasks and jobs.
func workRoutes() []Route {
	return []Route{
		lists(work.ListTasks),
		makes(work.SubmitTask),
		created(described(work.SubmitTasks)),
		described(work.ChangeTasks),
		described(work.ShowTask),
		described(work.WhyTask),
		described(work.TaskEvents),
		described(work.TaskAttempts),
		lists(work.TaskArtifacts),
		{get, "/tasks/{task}/log", auth.Read, "artifact", Granted, "Read the log of an attempt, line by line, and follow it", streamed(raw("application/x-ndjson", (*API).taskLog, logParams...))},
		described(work.CancelTask),
		described(work.RetryTask),
		described(work.SkipTask),
		described(work.HoldTask),
		described(work.ReleaseTask),
		described(work.RefuseTask),
		described(work.LinkTask),
		described(work.SetPriority),

		lists(work.ListJobs),
		makes(work.SubmitJob),
		described(work.ChangeJobs),
		described(work.ShowJob),
		lists(work.ListJobTasks),
		described(work.JobGraph),
		described(work.JobSpans),
		lists(work.JobArtifacts),
		described(work.CancelJob),
		described(work.RetryJob),
		described(work.SignalJob),
		makes(workflow.Rerun),
		described(workflow.PlanRerun),
		described(work.WhyJob),
	}
}

// flowRoutes are about workflows, the artifacts and logs of their runs, and secrets.
func flowRoutes() []Route {
	return []Route{
		described(work.ShowArtifact),
		{get, "/artifacts/{artifact}/content", auth.Read, "artifact", Granted, "Read an artifact: its bytes, or 303 to where they are", streamed(raw("application/octet-stream", (*API).artifactContent, contentParams...))},

		lists(workflow.List),
		defines(workflow.Put),
		described(workflow.Lint),
		described(workflow.PlanDefinition),
		defines(workflow.Show),
		lists(workflow.Versions),
		described(workflow.SetActive),
		described(workflow.Delete),
		makes(workflow.Run),
		described(workflow.Plan),
		described(workflow.Backfill),

		described(work.ListSecrets),
		described(work.RotateSecrets),
		described(work.PutSecret),
		described(work.DeleteSecret),
	}
}

// orderRoutes are about pools, schedules and triggers.
func orderRoutes() []Route {
	return []Route{
		lists(work.ListPools),
		defines(work.ShowPool),
		defines(work.PutPool),
		described(work.NotePool),
		described(work.DropPool),

		lists(work.ListSchedules),
		defines(work.ShowSchedule),
		defines(work.PutSchedule),
		described(work.DropSchedule),
		described(work.PauseSchedule),
		described(work.ResumeSchedule),

		lists(workflow.ListTriggers),
		defines(workflow.ShowTrigger),
		defines(workflow.PutTrigger),
		described(workflow.DropTrigger),
		described(workflow.PauseTrigger),
		described(workflow.ResumeTrigger),
		described(workflow.RotateTrigger),
		lists(workflow.ListFirings),
		{post, "/hooks/{trigger}", "", "", Open, "Deliver to the webhook of a trigger; the signature is the credential", handle((*API).deliver)},
	}
}

// machineRoutes are about nodes and workers.
func machineRoutes() []Route {
	return []Route{
		lists(work.ListNodes),
		described(work.ShowNode),
		described(work.SetNode),
		described(work.SetWake),
		described(work.WakeNode),
		described(work.SetMode),
		described(work.DropNode),
		described(account.RevokeNode),
		lists(work.ListWorkers),
		described(work.ShowWorker),
	}
}

// wholeRoutes are about the state of the whole installation.
func wholeRoutes() []Route {
	return []Route{
		described(work.ShowOverview),
		described(work.ListRates),
		described(work.Search),
		lists(work.ListEvents),
		described(work.ShowTail),
		{get, "/events", auth.Read, "event", Granted, "Follow the timeline live (server-sent events)", streamed(raw("text/event-stream", (*API).stream, streamParams...))},
		{post, "/events/{link}", "", "", Open, "Tell a task of the event that it waits for; the signed link is the credential", handle((*API).follow)},
		described(work.ShowHealth),
		described(work.Doctor),
	}
}

// peopleRoutes are about identities: users, tokens, sessions, joins.
func peopleRoutes() []Route {
	return []Route{
		{post, "/login", "", "", Open, "Log in with a password; the answer sets a cookie", handle((*API).login)},
		{post, "/logout", "", "", Known, "Log out: end the session, or the token that asks", handle((*API).logout)},
		{get, "/me", "", "", Known, "Say who asks", handle((*API).me)},
		described(account.SetOwnPassword),
		lists(account.ListUsers),
		makes(account.CreateUser),
		described(account.ShowUser),
		described(account.SetRole),
		described(account.SetPassword),
		described(account.Disable),
		described(account.Enable),
		created(described(account.NewLink)),
		described(account.DeleteUser),
		described(account.ListTokens),
		makes(account.CreateToken),
		described(account.RevokeToken),
		described(account.ListSessions),
		described(account.RevokeSession),
		described(account.ListJoins),
		created(described(account.CreateJoin)),
		described(account.RevokeJoin),
		{post, "/join", "", "", Open, "Join as a node: a one-time secret for a credential", creates(handle((*API).join))},
	}
}

// agentRoutes are about the agents of nodes.
func agentRoutes() []Route {
	return []Route{
		{post, "/agent/register", auth.Command, "node", Own, "Say what this node is: labels, slots, drivers", handle((*API).agentRegister)},
		{post, "/agent/heartbeat", auth.Command, "node", Own, "Say that this node lives, and hear what it is told to do", handle((*API).agentHeartbeat)},
		{post, "/agent/faults", auth.Command, "node", Own, "Say what is broken on this node, by service", handle((*API).agentFaults)},
		{post, "/agent/devices", auth.Command, "node", Own, "Say which devices hang on this node, and hear which attempts have lost theirs", large(handle((*API).agentDevices))},
		{post, "/agent/stop", auth.Command, "node", Own, "Say that this node's agent ends; what it holds is handed back", handle((*API).agentStop)},
		{post, "/agent/detach", auth.Command, "node", Own, "Say that this node's agent ends and its work goes on", handle((*API).agentDetach)},
		{post, "/agent/forwards", auth.Command, "node", Own, "Say which ports this node lets people reach, and wait for a forward", handle((*API).agentForwards)},
		{get, "/agent/forwards/{forward}", auth.Command, "node", Own, "Take up a forward: a WebSocket that carries its connections", streamed(raw("application/octet-stream", (*API).agentJoinForward, joinParams...))},
		{post, "/agent/forwards/{forward}/refuse", auth.Command, "node", Own, "Say why this node does not take up a forward", handle((*API).agentRefuseForward)},
		{post, "/agent/claim", auth.Command, "lease", Own, "Lease tasks, and wait for some: at most 25 s", handle((*API).agentClaim)},
		{post, "/agent/start", auth.Command, "lease", Own, "Say that leased tasks have begun", handle((*API).agentStart)},
		{post, "/agent/renew", auth.Command, "lease", Own, "Prolong leases, and hear which are lost or to be cancelled", handle((*API).agentRenew)},
		{post, "/agent/record", auth.Command, "lease", Own, "Add events to the timeline of leased tasks", large(handle((*API).agentRecord))},
		{post, "/agent/end", auth.Command, "lease", Own, "Say how leased tasks ended", large(handle((*API).agentEnd))},
		{post, "/agent/report", auth.Command, "lease", Own, "Say at once what begun, happened, was printed and ended of leased tasks", large(handle((*API).agentReport))},
		{post, "/agent/secrets", auth.Command, "lease", Own, "Read the secrets of a leased task", handle((*API).agentSecrets)},
		{post, "/agent/logs", auth.Command, "lease", Own, "Keep a piece of the log of a leased task", large(handle((*API).agentLog))},
		{post, "/agent/artifacts/begin", auth.Command, "lease", Own, "Ask where to put an artifact of a leased task", handle((*API).agentBegin)},
		{post, "/agent/artifacts/commit", auth.Command, "lease", Own, "Record an artifact that lies in the bucket", handle((*API).agentCommit)},
		{put, "/agent/artifacts/{task}/{attempt}", auth.Command, "lease", Own, "Keep an artifact of a leased task: the body is its bytes", streamed(raw("application/octet-stream", (*API).agentUpload, uploadParams...))},
		{post, "/agent/inputs", auth.Command, "lease", Own, "List the artifacts of earlier steps that a leased task asks for", handle((*API).agentInputs)},
		{post, "/agent/inputs/content", auth.Command, "lease", Own, "Read one of them: its bytes, or 303 to where they are", streamed(raw("application/octet-stream", (*API).agentInput))},
	}
}

// aboutRoutes are about the API itself.
func aboutRoutes() []Route {
	return []Route{
		{get, "/version", "", "", Open, "Say which version answers", handle((*API).version)},
		{get, "/openapi.json", "", "", Open, "Describe this API (OpenAPI 3.1)", raw("application/openapi+json", (*API).specJSON)},
		{get, "/openapi.yaml", "", "", Open, "Describe this API (OpenAPI 3.1)", raw("application/openapi+yaml", (*API).specYAML)},
		{get, "/schemas/workflow", "", "", Open, "Describe definitions of workflows (JSON Schema)", raw("application/schema+json", (*API).workflowSchema)},
		{get, "/docs", "", "", Open, "Describe this API as a page", raw("text/html", (*API).docsPage)},
		{get, "/docs.css", "", "", Open, "Dress the page", raw("text/css", (*API).docsStyle)},
	}
}
