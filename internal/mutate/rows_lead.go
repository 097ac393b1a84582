package mutate

// leadRows are the guards of the lead.
var leadRows = []Row{
	{
		"a leader's write carries its epoch", "schema/functions/engine/fenced.sql",
		`if now_epoch is distinct from fenced.epoch then`, `if false then`,
		engineTests, "TestR9OldEpochIsRefused",
	},
	{
		"a leader's write holds the next term off", "schema/functions/engine/fenced.sql",
		` for key share;`, `;`,
		engineTests, "TestR9OldEpochIsRefused",
	},
	{
		"a new term waits for the old leader's write", "schema/functions/engine/lead.sql",
		`where l.lock_name = lead.lock_name for update;`, `where l.lock_name = lead.lock_name;`,
		engineTests, "TestR9OldEpochIsRefused",
	},
	{
		"a new leader has a new epoch", "schema/functions/engine/lead.sql",
		`else l.epoch + 1 end`, `else l.epoch end`,
		engineTests, "TestR9OldEpochIsRefused",
	},
	{
		"a lead that is not over is not taken", "schema/functions/engine/lead.sql",
		`where l.holder_id = holder or l.expires_at <= t`, ``,
		engineTests, "TestR9OneLeader",
	},
	{
		"who resigns ends its own term", "schema/functions/engine/resign.sql",
		` and l.epoch = resign.epoch`, ``,
		engineTests, "TestResignEndsOneTerm",
	},
	{
		"a leader adds its absence to leases", "schema/functions/engine/lead.sql",
		`weir._add_absence(was.seen_at, t)`, `0`,
		engineTests, "TestALeaderAddsItsAbsence",
	},
	{
		"a new leader waits for nobody's lease", "schema/functions/engine/_add_absence.sql",
		`for update skip locked`, `for update nowait`,
		engineTests, "TestALeaderAddsItsAbsence",
	},
	{
		"an absence does not bring a lease back that was over before", "schema/functions/engine/_add_absence.sql",
		`and x.until >= since and`, `and`,
		engineTests, "TestALeaderAddsItsAbsence",
	},
	{
		"who resigns ends its own lead", "schema/functions/engine/resign.sql",
		` and l.holder_id = resign.holder`, ``,
		engineTests, "TestResignEndsOneTerm",
	},
}
