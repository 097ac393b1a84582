-- Tells the listeners of this database that something may have changed: at commit, ids only, one note per kind. A note
-- holds 8,000 bytes, not characters.
create or replace function weir._hint(specs weir.task_spec[]) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  keys text;
begin
  perform pg_notify('weir_available', case when octet_length(x.names) <= 7000 then x.names else '' end)
  from (select string_agg(distinct s.service, ',') as names from unnest(specs) s
    where s.lane is null and s.pool is null) x
  where x.names is not null;
  if exists (select from unnest(specs) s where s.plan and coalesce(cardinality(s.needs), 0) = 0) then
    perform pg_notify('weir_plan', '');
  end if;
  select jsonb_build_object('lanes', jsonb_agg(distinct s.lane) filter (where s.lane is not null),
    'pools', jsonb_agg(distinct s.pool) filter (where s.pool is not null))::text
  into keys from unnest(specs) s where s.lane is not null or s.pool is not null having count(*) > 0;
  if keys is not null then
    perform pg_notify('weir_gates', case when octet_length(keys) < 7000 then keys else '' end);
  end if;
end $$;
comment on function weir._hint is 'NOTIFY for a submission. A hint: whoever misses it polls.';
