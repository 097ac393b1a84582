-- Leaves lanes or pools to the next pass of weir.tend. It hears of those that it can open now; a busy key is looked at
-- again with the next pass.
create or replace function weir._defer_keys(lane boolean, keys text[], t timestamptz, busy boolean default false,
  error text default null)
returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  note text;
begin
  insert into weir.left_keys (lane, key, at, busy, error)
  select distinct _defer_keys.lane, k, t, _defer_keys.busy, _defer_keys.error from unnest(keys) k
  where not exists (select from weir.left_keys l
    where l.lane = _defer_keys.lane and l.key = k and l.busy = _defer_keys.busy);
  if found and not busy then
    note := jsonb_build_object(case when _defer_keys.lane then 'lanes' else 'pools' end, to_jsonb(keys))::text;
    perform pg_notify('weir_gates', case when octet_length(note) < 7000 then note else '' end);
  end if;
end $$;
comment on function weir._defer_keys is 'Keys for the next pass of weir.tend.';
