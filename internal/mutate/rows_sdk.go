package mutate

// sdkRows are the guards of the Go SDK.
var sdkRows = []Row{
	{
		"a handler stops before its lease ends", "renewer.go",
		`w.keeper.Unsure(l.asked, now); l = l.next`, `false; l = l.next`,
		".", "TestHandlersStopBeforeTheLeaseEnds",
	},
	{
		"a lost lease stops its handler", "renewer.go",
		`			w.lose(l)
`,
		`			_ = w.lose
`,
		".", "TestAWorkerThatClaimsItsLostTaskAgain",
	},
	{
		"a cancel reaches the handler", "renewer.go",
		`			l.cancel(ErrCanceled)
`,
		`			_ = ErrCanceled
`,
		".", "TestCancelInFlight",
	},
	{
		"a lost reply of a claim is asked for again", "claimer.go",
		`	id, asked, begun := newToken(), w.keeper.Clock(), time.Now()
	var taken []*lease
	err = persist(ctx, w.config.Lease/3, func(ctx context.Context) error {
`,
		`	id, asked, begun := newToken(), w.keeper.Clock(), time.Now()
	var taken []*lease
	err = persist(ctx, w.config.Lease/3, func(ctx context.Context) error {
		id = newToken()
`,
		".", "TestLostClaimReply",
	},
	{
		"work stops although its renewal hangs", "internal/leasing/keeper.go",
		`	guard.Go(func() { k.guard(ctx) })`, `	guard.Go(func() {})`,
		"./internal/leasing", "TestGuardLooksWhileARenewalHangs",
	},
	{
		"who may not lead tends", "internal/coordinator/coordinator.go",
		`c.config.Unled && blame.Denied(err)`, `c.config.Unled && blame.Denied(err) && ctx.Err() != nil`,
		".", "TestRolesAreEnough",
	},
	{
		"a task that is due is expected", "internal/tending/tend.go",
		`		t.config.Gates.Wake()
`,
		`		_ = t.config.Gates.Wake
`,
		"./internal/engine", "TestATaskThatIsExpectedCallsThePass",
	},
	{"a handler has its limit", "claimer.go", `min(h.limit-h.running, d.n)`, `d.n`, ".", "TestConcurrencyOfAHandlerHolds"},
}
