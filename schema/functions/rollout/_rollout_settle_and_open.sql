-- Settles a rollout at the end of a command, which holds its job, and opens what may open now.
create or replace function weir._rollout_settle_and_open(id uuid, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  x record;
begin
  select * into x from weir._rollout_settle(_rollout_settle_and_open.id, t);
  perform weir._after_end('{}', x.lanes, x.pools, t);
end $$;
comment on function weir._rollout_settle_and_open is 'Settles and opens.';
