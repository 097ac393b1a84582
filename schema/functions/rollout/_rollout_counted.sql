-- Tasks of a rollout have ended or live again. In this transaction, and before the keys they freed are opened, its
-- holds become what they should be: after a failure nothing of a stopped stage starts. Most ends change no gate, and
-- then there is nothing to look at. The transaction may hold lanes and pools by now or want them later, so what may
-- open is left to whoever hears the hint.
create or replace function weir._rollout_counted() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  keys text;
  x record;
begin
  if new.failed = old.failed and new.canceled = old.canceled and new.skipped >= old.skipped
    and new.done + new.failed + new.canceled
      + new.skipped < (select r.look_at from weir.rollouts r where r.job = new.job) then
    return null;
  end if;
  select * into x from weir._rollout_settle(new.job, clock_timestamp());
  if cardinality(x.lanes) > 0 or cardinality(x.pools) > 0 then
    keys := jsonb_build_object('lanes', to_jsonb(x.lanes), 'pools', to_jsonb(x.pools))::text;
    perform pg_notify('weir_gates', case when length(keys) < 7000 then keys else '' end);
  end if;
  return null;
end $$;
comment on function weir._rollout_counted is 'Trigger: the holds of a rollout follow the ends of its tasks.';
