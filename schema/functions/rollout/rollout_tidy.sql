-- Forgets rollouts whose jobs were dropped with their partition. Returns how many. Texts of changes stay: another
-- rollout may have them.
create or replace function weir.rollout_tidy(at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_tidy.at);
  n int;
begin
  delete from weir.rollouts r
  where r.job in (select o.job from weir.rollouts o
    where o.created_at < t - interval '1 day' and not exists (select from weir.jobs j where j.id = o.job) limit 100);
  get diagnostics n = row_count;
  return n;
end $$;
comment on function weir.rollout_tidy is 'Forgets rollouts that the engine has forgotten.';
