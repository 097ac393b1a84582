-- Forgets fleet jobs whose jobs were dropped with their partition, forwards whose server is gone, and states of
-- devices that ended a month ago. Returns how many jobs.
create or replace function weir.fleet_tidy(at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(fleet_tidy.at);
  old uuid[] := array(select o.job from weir.fleet_jobs o
    where o.state = 'ended' and o.created_at < t - interval '1 day'
      and not exists (select from weir.jobs j where j.id = o.job)
    order by o.created_at limit 20);
begin
  delete from weir.fleet_units u where u.job = any (old);
  delete from weir.fleet_jobs j where j.job = any (old);
  -- A server that carries a forward says so every few seconds.
  perform weir.forward_end(f.id, 'server', at => t) from weir.forwards f where f.seen_at < t - interval '1 min';
  delete from weir.device_spans s where (s.device, s.since) in (
    select x.device, x.since from weir.device_spans x where x.until < t - interval '31 days' limit 10000);
  return cardinality(old);
end $$;
comment on function weir.fleet_tidy is 'Forgets fleet jobs that the engine has forgotten.';
