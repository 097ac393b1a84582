package mutate

const (
	authTests  = "./internal/auth"
	nodeTests  = "./internal/node"
	agentTests = "./internal/agent"
)

// serverRows are the guards of the server: authentication, what nodes may do, the lead.
var serverRows = []Row{
	{
		"what is not in the table nobody may", "internal/auth/can.go",
		`	if !known {
		return false
	}
	switch s.Kind {`,
		`	_ = known
	switch s.Kind {`,
		authTests, "TestCan",
	},
	{
		"an end that waits to be told keeps its lease", "internal/agent/renew.go",
		`(!at.ended || at.untold == 0 || now-at.untold < leasing.Untold*a.config.Lease)`, `(!at.ended || leasing.Untold < 0)`,
		agentTests, "TestAnEndThatIsNotTakenKeepsItsLease",
	},
	{
		"a service whose driver is missing is not claimed", "internal/agent/claim.go",
		`if a.faults[service].rests(now) {`, `if now < 0 {`,
		agentTests, "TestANodeWithoutItsDriverTakesNothing",
	},
	{
		"what the node broke spends no attempt", "internal/agent/judge.go",
		`case e.fault != nil:`, `case false:`,
		agentTests, "TestWorkWithoutADriverIsHandedBack",
	},
	{
		"a full disk is named", "internal/agent/fault.go",
		`if ok && left < fullMost || fullAt > at.claimed && uptime.Now()-fullAt < fullWithin {`, `if ok && left == 1 && fullAt == 1 {`,
		agentTests, "TestAFullDiskIsNamed",
	},
	{
		"a program that the node lacks is the fault of the node", "internal/agent/fault.go",
		`if at.own && errors.Is(e.err, driver.ErrNoProgram) {`, `if false {`,
		agentTests, "TestAProgramThatANodeLacksIsItsFault",
	},
	{
		"a driver that answers again is offered", "internal/agent/fault.go",
		`case f == nil && was != nil && was.until == 0:`, `case false:`,
		agentTests, "TestADriverThatAnswersAgainIsOffered",
	},
	{
		"a guardian kills what a dead keeper left", "internal/agent/driver/exec/guardian.go",
		`for _, c := range has {`, `for _, c := range map[string]charge{} {`,
		agentTests, "TestNothingOutlivesAgentAndKeeper",
	},
	{
		"a cgroup ends what hides from the marks", "internal/agent/driver/exec/cgroup_linux.go",
		`if group != "" {
		_ = os.WriteFile`, `if group == "none" {
		_ = os.WriteFile`,
		agentTests, "TestNothingOutlivesAgentAndKeeper",
	},
	{
		"a guardian that dies is replaced", "internal/agent/driver/exec/keeper.go",
		`go k.guardian.watch(cmd)`, `_ = cmd`,
		agentTests, "TestAGuardianIsReplaced",
	},
	{
		"work that dies with its keeper spends no attempt", "internal/agent/driver/exec/running.go",
		`return ending{}, true, errUnwatched`, `return ending{}, true, errors.New("it ended")`,
		agentTests, "TestWorkThatDiesWithItsKeeperIsHandedBack",
	},
	{
		"only work that found nothing broken ends the back-off", "internal/agent/attempt.go",
		`	} else if e.begun {
		a.absolve(at)
`, `	}
	if e.begun {
		a.absolve(at)
`,
		agentTests, "TestTheBackOffOfAFaultGrows",
	},
	{
		"a clean stop leaves the work running", "internal/agent/attempt.go",
		`		return errDetached
`, `		return errLeaving
`,
		agentTests, "TestACleanStopLeavesTheWork",
	},
	{
		"a clean stop waits for work that is being started", "internal/agent/attempt.go",
		`	case <-late.C:
`, `	case <-late.C:
	default:
`,
		agentTests, "TestWorkThatStartsIsLeftRunning",
	},
	{
		"the leases of work that goes on stay", "internal/agent/agent.go",
		`if a.left.Load() > 0 {`, `if a.left.Load() < 0 {`,
		agentTests, "TestACleanStopLeavesTheWork",
	},
	{
		"an agent that waits for its name can be stopped", "internal/agent/agent.go",
		`for failures := 0; !closed(a.drain); failures++ {`, `for failures := 0; !closed(a.leave); failures++ {`,
		agentTests, "TestAnAgentThatWaitsForItsNameStops",
	},
	{
		"an end is told on when its lease may be over", "internal/agent/report.go",
		`now > e.at.safe && (now-e.at.untold >= leasing.Untold*a.config.Lease || closed(a.leave))`, `now > e.at.safe && leasing.Untold > 0`,
		agentTests, "TestAnEndIsToldAfterAnOutage",
	},
	{
		"work goes on without contact", "internal/agent/attempt.go",
		`at.run, at.around, at.keep = run, around, run.Keep(a.config.Keep)`, `at.run, at.around = run, around`,
		agentTests, "TestWorkGoesOnWithoutContact",
	},
	{
		"notes wait for a server that is away", "internal/agent/report.go",
		`if answered >= notesTries || ctx.Err() != nil {`, `if notes != nil {`,
		agentTests, "TestWorkGoesOnWithoutContact",
	},
	{
		"the lease goes before the log", "internal/agent/ship.go",
		`if s.at.unrenewed() {`, `if false {`,
		agentTests, "TestWorkGoesOnWithoutContact",
	},
	{
		"an agent that holds work does not give up", "internal/agent/answer.go",
		`silent < a.config.Patience || busy`, `silent < a.config.Patience || busy && false`,
		agentTests, "TestWorkGoesOnWithoutContact",
	},
	{
		"work on devices is claimed in READ COMMITTED", "internal/node/pc.go",
		"batch.Queue(`begin isolation level read committed`)", "batch.Queue(`begin`)",
		nodeTests, "TestDevicesAreClaimedInAnyIsolation",
	},
	{
		"a leader's statement is READ COMMITTED", "internal/coordinator/term.go",
		"all.Queue(`begin isolation level read committed`)", "all.Queue(`begin`)",
		"./internal/app", "TestPooledWhereTransactionsAreNotReadCommitted",
	},
	{"a token stays in its scopes", "internal/auth/can.go", ` && inScope(s.Scopes, v, o.Kind)`, ``, authTests, "TestCan"},
	{"a node reaches its own alone", "internal/auth/can.go", ` && o.Owner == s.ID`, ``, authTests, "TestCan"},
	{
		"a session ends when it is idle", "internal/auth/session.go",
		`where s.hash = $2 and s.expires_at > t and s.seen_at > t - $3::interval and u.disabled_at is null`,
		`where s.hash = $2 and s.expires_at > t and $3::interval is not null and u.disabled_at is null`,
		authTests, "TestSessionEnds",
	},
	{
		"a session ends with its life", "internal/auth/session.go",
		`where s.hash = $2 and s.expires_at > t and s.seen_at`, `where s.hash = $2 and s.seen_at`,
		authTests, "TestSessionEnds",
	},
	{"a session ends with its user", "internal/auth/session.go", ` and u.disabled_at is null`, ``, authTests, "TestSessionEnds"},
	{
		"a token ends with its life", "internal/auth/token.go",
		` and k.expires_at > t and u.disabled_at is null`, ` and u.disabled_at is null`,
		authTests, "TestToken",
	},
	{"a token ends with its user", "internal/auth/token.go", ` and u.disabled_at is null`, ``, authTests, "TestToken"},
	{
		"a join token is used once", "internal/auth/join.go",
		"delete from weir.joins where hash = $2 and expires_at > coalesce($1, now()) returning coalesce(node, ''), labels, services`",
		"select coalesce(node, ''), labels, services from weir.joins where hash = $2 and expires_at > coalesce($1, now())`",
		authTests, "TestJoinOnce",
	},
	{
		"a join token expires", "internal/auth/join.go",
		"where hash = $2 and expires_at > coalesce($1, now()) returning", "where hash = $2 and coalesce($1, now()) is not null returning",
		authTests, "TestJoin",
	},
	{
		"a link expires", "internal/auth/link.go",
		"where l.hash = $2 and l.expires_at > coalesce($1, now()) and u.disabled_at is null",
		"where l.hash = $2 and coalesce($1, now()) is not null and u.disabled_at is null",
		authTests, "TestLoginLink",
	},
	{
		"a link is used once", "internal/auth/link.go",
		"delete from weir.links where hash = $2 and expires_at > coalesce($1, now()) returning user_id is null, '', expires_at`",
		"select user_id is null, '', expires_at from weir.links where hash = $2 and expires_at > coalesce($1, now())`",
		authTests, "TestLoginLink",
	},
	{
		"guesses of a name are throttled", "internal/auth/throttle.go",
		`		case account.wait > 0:`, `		case false:`,
		authTests, "TestThrottleAccount",
	},
	{
		"guesses from an address are throttled", "internal/auth/throttle.go",
		`		case address.wait > 0:`, `		case false:`,
		authTests, "TestThrottleAddress",
	},
	{
		"attempts are counted one by one", "internal/auth/throttle.go",
		`		insert into weir.login_attempts as a (key, failures, at, until) values ($2, 0, coalesce($1, now()), coalesce($1, now()))
		on conflict (key) do update set failures = a.failures
		returning failures, extract(epoch from coalesce($1, now()) - at)::float8, extract(epoch from until - coalesce($1, now()))::float8, noted`,
		`		with made as (insert into weir.login_attempts (key, failures, at, until) values ($2, 0, coalesce($1, now()), coalesce($1, now())) on conflict do nothing returning *)
		select failures, extract(epoch from coalesce($1, now()) - at)::float8, extract(epoch from until - coalesce($1, now()))::float8, noted
		from (select * from made union all select * from weir.login_attempts where key = $2 union all select $2, 0, coalesce($1, now()), coalesce($1, now()), false) x limit 1`,
		authTests, "TestThrottleAtOnce",
	},
	{
		"the last admin stays", "internal/auth/user.go",
		`role = 'admin' and disabled_at is null and id <> $1)`, `role = 'admin' and disabled_at is null and $1::uuid is not null)`,
		authTests, "TestLastAdmin",
	},
	{
		"one sets Weir up", "schema/migrations/0002_auth.sql",
		`create unique index links_setup`, `create index links_setup`,
		authTests, "TestThereIsOneSetupLink",
	},
	{
		"a leader's transaction carries its epoch", "internal/coordinator/term.go",
		"weir.fenced($2, $3)`", "$2::text, $3::bigint`",
		"./internal/coordinator", "TestTheFenceOfATerm",
	},
	{
		"a node reports of its own leases", "internal/node/report.go",
		`from s where not exists (select from f where f.task = s.task and f.attempt = s.attempt)`, `from s`,
		nodeTests, "TestADeskTouchesItsOwnLeases",
	},
	{
		"a node records for its own leases", "schema/functions/engine/record_many.sql",
		`
      and r.node = here offset 0) r`, ` offset 0) r`,
		nodeTests, "TestADeskTouchesItsOwnLeases",
	},
	{
		"record_many checks the token", "schema/functions/engine/record_many.sql",
		`r.attempt = g.attempt and r.token = g.token
      and r.node`, `r.attempt = g.attempt
      and r.node`,
		nodeTests, "TestNotesAreWrittenTogether",
	},
	{
		"record_many checks the attempt", "schema/functions/engine/record_many.sql",
		`r.task = g.task and r.attempt = g.attempt and r.token = g.token
      and r.node`, `r.task = g.task and r.token = g.token
      and r.node`,
		nodeTests, "TestNotesAreWrittenTogether",
	},
	{
		"leased_many checks the token", "schema/functions/engine/leased_many.sql",
		` and r.attempt = g.attempt and r.token = g.token`, ` and r.attempt = g.attempt`,
		nodeTests, "TestReportAtOnce",
	},
	{
		"leased_many checks the node", "schema/functions/engine/leased_many.sql",
		`
        and r.node = (select n.id from weir.nodes n where n.name = leased_many.node)`, ``,
		nodeTests, "TestReportAtOnce",
	},
	{
		"an end takes the notes of its attempt along", "internal/agent/report.go",
		`&& len(m.ends) == 0 && !all`, `&& !all`,
		"./internal/agent", "TestMailGathersNotes",
	},
}
