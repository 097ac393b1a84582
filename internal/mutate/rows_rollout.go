package mutate

// rolloutRows are the guards of rollouts.
var rolloutRows = []Row{
	{
		"a brief is for the live lease", "schema/functions/rollout_brief.sql",
		` and l.token = rollout_brief.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"an end is for the live lease", "schema/functions/rollout_ended.sql",
		` and l.token = rollout_ended.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"a phase is for the live lease", "schema/functions/rollout_phase.sql",
		` and l.token = rollout_phase.token`, ``,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"a quiet word is for the live lease", "schema/functions/rollout_says.sql",
		` and l.token = rollout_says.token;`, `;`,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
}
