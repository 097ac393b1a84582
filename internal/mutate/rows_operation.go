package mutate

const (
	appTests     = "./internal/app"
	patternTests = "./internal/pattern"
	vaultTests   = "./internal/vault"
)

// operationRows are the guards of ordinary operation: stopping, readiness, a database that
// takes no writes, what is read again without a restart, and the bounds and rights that
// keep one user from harming another.
var operationRows = []Row{
	{
		"a server that stops says so before its listener closes", "internal/app/stop.go",
		`	if delay <= 0 {
		return
`, `	if delay > 0 {
		return
`, appTests, "TestDrain",
	},
	{
		"a server that drains is not ready", "internal/app/health.go",
		`	case s.draining.Load():
		return []Check{{Name: "server", detail: "stopping"}}
`, ``, appTests, "TestDrain",
	},
	{
		"a stop is told at once, not from a cached answer", "internal/app/health.go",
		` && !h.server.draining.Load()`, ``, appTests, "TestAStopIsToldAtOnce",
	},
	{
		"a client leaves a server that drains", "internal/app/http.go",
		`		w.Header().Set("Connection", "close") // the next`, `		_ = w.Header() // the next`,
		appTests, "TestDrain",
	},
	{
		"a stopping server lets requests end", "internal/app/stop.go",
		`	if s.http.Shutdown(ctx) != nil {`, `	if ctx != nil {`, appTests, "TestDrain",
	},
	{
		"a server without its schema is not ready", "internal/app/health.go",
		`	return []Check{database, checkSchema(ctx, parts)}`,
		`	return []Check{database, {Name: "schema", OK: true, detail: checkSchema(ctx, parts).detail}}`,
		appTests, "TestNotReady",
	},
	{
		"readiness tells strangers nothing of the database", "internal/app/health.go",
		`	detail string
	err    error
}

// Readiness`, "	detail string\n	err    error\n	Why    string `json:\"why\"`\n}\n\n// Readiness", appTests, "TestNotReady",
	},
	{
		"a full disk is not ready", "internal/pg/writes.go",
		`		w.writes.full.Store(true)`, `		w.writes.full.Store(false)`, appTests, "TestFullDisk",
	},
	{
		"a disk that is full is full until a write works", "internal/pg/writes.go",
		`	case codeIn(err, codeDiskFull):
		return ErrNoSpace
`, ``, appTests, "TestFullDisk",
	},
	{
		"a full disk is 503", "internal/problem/problem.go",
		`	"53100": {Unreachable,`, `	"53100": {Failed,`, appTests, "TestFullDisk",
	},
	{
		"a read-only database is not ready", "internal/pg/writes.go",
		`	case readOnly:
		return ErrReadOnly
`, ``, appTests, "TestReadOnly",
	},
	{
		"a read-only database is 503", "internal/problem/problem.go",
		`	"25006": {Unreachable,`, `	"25006": {Failed,`, appTests, "TestReadOnly",
	},
	{
		"a deadlock is 503", "internal/problem/problem.go",
		`	"40P01": {Unreachable,`, `	"40P01": {Failed,`, appTests, "TestDeadlock",
	},
	{
		"a new certificate is taken", "internal/app/reload.go",
		`		c.looked = now
		c.look()
`, `		c.looked = now
`, appTests, "TestACertificateIsReadAgain",
	},
	{
		"a certificate that does not fit leaves the old one", "internal/app/reload.go",
		`"tls_key", c.key, "error", err)
		return
`, `"tls_key", c.key, "error", err)
`, appTests, "TestACertificateIsReadAgain",
	},
	{
		"the level of the log is read again", "internal/app/reload.go",
		`		s.options.Level.Set(config.Level())`, `		_ = config.Level()`,
		appTests, "TestTheConfigurationIsReadAgain",
	},
	{
		"a rotation leaves a secret that was set meanwhile", "schema/functions/auth/reseal_secret.sql",
		` and s.version = reseal_secret.version and s.key_id = reseal_secret.was_key`, ``,
		vaultTests, "TestRotationLeavesWhatWasSetMeanwhile",
	},
	{
		"a rotation goes on after a secret that does not open", "internal/vault/rotate.go",
		`			case errors.As(err, &own):
				done.Failed = append(done.Failed, RotationFault{b.Name, own.What})
`, `			case errors.As(err, &own):
				return done, err
`, vaultTests, "TestRotationBesideAServer",
	},
	{
		"a running server knows a new key", "internal/vault/rotate.go",
		`	if now == v.seen {`, `	if now != (stamp{}) && len(v.keys.keys) > 0 {`,
		vaultTests, "TestRotationBesideAServer",
	},
	{
		"the text of a pattern is bounded", "internal/pattern/regexp.go",
		`	if len(source) > MaxLength {`, `	if len(source) > 1000*MaxLength {`, patternTests, "TestRegexpBounds",
	},
	{
		"the depth of a pattern is bounded", "internal/pattern/regexp.go",
		`	case deepest > MaxDepth:`, `	case deepest > 1000*MaxDepth:`, patternTests, "TestRegexpBounds",
	},
	{
		"the cost of a pattern is bounded", "internal/pattern/regexp.go",
		`	case cost > MaxCost:`, `	case cost > 1000*MaxCost:`, patternTests, "TestRegexpBounds",
	},
	{
		"the patterns of a schema are counted", "internal/pattern/schema.go",
		`	case s.patterns > MaxPatterns:`, `	case s.patterns > 1000*MaxPatterns:`, patternTests, "TestSchemaBounds",
	},
	{
		"the patterns of a schema are bounded together", "internal/pattern/schema.go",
		`	case s.total > MaxTotal:`, `	case s.total > 1000*MaxTotal:`, patternTests, "TestSchemaBounds",
	},
	{
		"the parts of a schema are bounded", "internal/pattern/schema.go",
		`s.parts > MaxParts {`, `s.parts > 1000*MaxParts {`, patternTests, "TestSchemaBounds",
	},
	{
		"the checks of a schema on a value are bounded", "internal/pattern/schema.go",
		`w.endless || checks > MaxChecks {`, `w.endless {`, patternTests, "TestSchemaBounds",
	},
	{
		"a schema that refers to itself on the same value is refused", "internal/pattern/schema.go",
		`w.endless || checks > MaxChecks {`, `checks > MaxChecks {`, patternTests, "TestSchemaBounds",
	},
	{
		"the checks of a document are bounded", "internal/pattern/schema.go",
		`	case size > MaxWork/s.checks:`, `	case size > 1000*MaxWork/s.checks:`, patternTests, "TestDocumentBounds",
	},
	{
		"a report of the doctor is kept for a while", "internal/engine/view/checkup.go",
		`c.under == nil && age < checkupKept {`, `c.under == nil && age < 0 {`, "./internal/engine/view", "TestCheckupIsShared",
	},
	{
		"callers at once share one report of the doctor", "internal/engine/view/checkup.go",
		`	if p == nil {
		p = &pending`, `	if p == nil || !deep {
		p = &pending`, "./internal/engine/view", "TestCheckupIsShared",
	},
	{
		"the deep doctor takes an admin", "internal/work/whole.go",
		`auth.Allow(who, auth.Administer, auth.Object{Kind: "health"})`, `auth.Allow(who, auth.Read, auth.Object{Kind: "health"})`,
		"./internal/httpapi", "TestDeepDoctorTakesAnAdmin",
	},
	{
		"a run leaves out a step only for those who may skip", "internal/workflow/operation.go",
		`	return func() error { return auth.Allow(who, auth.Override, auth.Object{Kind: "task"}) }`,
		`	return func() error { return auth.Allow(who, auth.Command, auth.Object{Kind: "task"}) }`,
		"./internal/httpapi", "TestRunSkipsForWhoMaySkip",
	},
	{
		"a schedule leaves out a step only for those who may skip", "internal/workflow/workflow.go",
		`auth.Allow(who, auth.Override, auth.Object{Kind: "task"})`, `auth.Allow(who, auth.Command, auth.Object{Kind: "task"})`,
		"./internal/httpapi", "TestRunSkipsForWhoMaySkip",
	},
	{
		"an idempotency key belongs to a role", "schema/functions/auth/_subject_key.sql",
		`coalesce('role:' || weir._caller() || '/', '') || key`, `key`,
		engineTests, "TestKeysBelongToARoleAndABody",
	},
	{
		"an idempotency key of a job stands for one body", "schema/functions/engine/_take_key.sql",
		`if was.body <> hash then`, `if was.body is null and hash is null and was.id is null then`,
		engineTests, "TestKeysBelongToARoleAndABody",
	},
	{
		"a login from elsewhere is not locked out", "internal/auth/throttle.go",
		` && failures > perAccount.free:`, `:`, authTests, "TestThrottleTarget",
	},
	{
		"many addresses do not guess one password together", "internal/auth/throttle.go",
		`		case target.wait > 0 && failures > perAccount.free:`, `		case target.wait < 0:`, authTests, "TestThrottleTarget",
	},
	{
		"a count of failures is that of an address", "internal/auth/throttle.go",
		`throttleKey("account", name+" "+where)`, `throttleKey("account", name)`, authTests, "TestThrottleTarget",
	},
	{
		"a join token names its work or says any", "internal/auth/join.go",
		`	case !named && !n.Any:`, `	case !named && !n.Any && n.TTL < 0:`, authTests, "TestJoinBound",
	},
	{
		"a step on docker gets a network that the node allows", "internal/agent/driver/docker/allow.go",
		`	case asked == "none", asked == c.Network, slices.Contains(c.Networks, asked):`,
		`	case asked != "", slices.Contains(c.Networks, asked):`,
		"./internal/agent/driver/docker", "TestNetworksAreTheNodesToAllow",
	},
	{
		"a step never gets the network of the machine", "internal/agent/driver/docker/allow.go",
		`	case shared(asked):`, `	case shared(asked) && asked == "":`,
		"./internal/agent/driver/docker", "TestNetworksAreTheNodesToAllow",
	},
	{
		"a client reads no token of a lease", "schema/grants.sql",
		`('weir.running'::regclass, 'token')`, `('weir.running'::regclass, 'node')`, authTests, "TestNobodyReadsLeaseTokens",
	},
	{
		"a client reads no id of a claim", "schema/grants.sql",
		`('weir.workers', 'last_claim')`, `('weir.workers', 'node')`, authTests, "TestNobodyReadsLeaseTokens",
	},
	{
		"a client reads no token of a rollout's run", "schema/grants.sql",
		`('weir.rollout_runs', 'token')`, `('weir.rollout_runs', 'note')`, authTests, "TestNobodyReadsLeaseTokens",
	},
	{
		"a worker registers its own node", "schema/functions/engine/register_node.sql",
		`  perform weir._own_node(register_node.name);
`, ``, authTests, "TestNodesBelongToARole",
	},
	{
		"a worker works on its own node", "schema/functions/engine/register_worker.sql",
		`    perform weir._own_node(register_worker.node);
`, `    null;
`, authTests, "TestNodesBelongToARole",
	},
	{
		"a worker beats for its own node", "schema/functions/engine/heartbeat.sql",
		`  perform weir._own_node(nd.name);
`, ``, authTests, "TestNodesBelongToARole",
	},
	{
		"a worker stops workers of its own node", "schema/functions/engine/stop_worker.sql",
		`  perform weir._own_node((select n.name from weir.workers x join weir.nodes n on n.id = x.node where x.id = w));
`, ``, authTests, "TestNodesBelongToARole",
	},
	{
		"a worker speaks for its own PC", "schema/functions/fleet/_fleet_pc.sql",
		`  perform weir._own_node(n.name);
`, ``, authTests, "TestNodesBelongToARole",
	},
}
