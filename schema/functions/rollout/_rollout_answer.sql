-- What a command says that did something: what it did, and what the rollout waits for now.
create or replace function weir._rollout_answer(did text, id uuid) returns text
language sql stable
set search_path = weir, pg_temp
as $$
  select concat_ws('; it ', did, r.waits) from weir.rollouts r
  where r.job = id and r.state not in ('failed', 'canceled')
  union all select did limit 1
$$;
comment on function weir._rollout_answer is 'What was done, and what comes next.';
