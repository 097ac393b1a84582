-- Why a task is not where somebody wants it: one row per gate, in the order it passes them, each open or closed with a
-- reason, the task that blocks it and since when; then whether anybody can take it. The reason is a code with its
-- arguments, for programs, and an English sentence that is made of them.
create or replace function weir.why(task uuid, at timestamptz default null)
returns table (gate text, open boolean, reason text, blocker uuid, since timestamptz, code text, args jsonb)
language sql stable security definer
set search_path = weir, pg_temp
set jit = off
as $$
  select w.gate, w.open, weir._sentence(r.reason), w.blocker, w.since, r.reason ->> 'code', r.reason - 'code'
  from weir._why(why.task, weir._clock(why.at)) w, lateral (select jsonb_strip_nulls(w.reason) as reason) r
$$;
comment on function weir.why is 'Why a task waits: each gate, open or closed, with reason, blocker and since when.';
