-- The number up to which a task that is handed back, snoozed or retried counts its attempts on. An attempt is a
-- smallint, and a task that snoozes every ten seconds would use them up in four days. Past the limit it goes back with
-- the attempt it had before, and the next lease has the same number and another token. Attempts that fail count on, at
-- most 10,000 a round, and two crashes: together they stay below 32,767.
create or replace function weir._attempt_limit() returns int
language sql immutable parallel safe
as $$ select 20000 $$;
comment on function weir._attempt_limit is 'The attempt past which snoozes do not count.';
