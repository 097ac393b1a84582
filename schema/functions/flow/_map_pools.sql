-- Makes those of these pools that bound maps (map: and the step's task), as large as the definition of the job says,
-- unless they are there. They are dropped when the map has ended. Other names are nobody's business here. locked: as
-- whoever drops one at this moment does, which a step that waits for its plan keeps him from.
create or replace function weir._map_pools(names text[], t timestamptz, locked boolean default false) returns void
language plpgsql
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  names := array(select distinct n from unnest(names) n where n ~ '^map:[0-9a-f]{8}-[0-9a-f-]{27}$');
  if cardinality(names) = 0 then
    return;
  end if;
  if locked then
    perform weir._hold_keys(names, false);
  end if;
  with made as (
    insert into weir.pools (name, size, resized_at, note)
    select m.name, m.size, t, 'the limit of a map' from (
      select n.name,
        case
          when jsonb_typeof(s.value -> 'map' -> 'limit') = 'number' then (s.value -> 'map' ->> 'limit')::int end as size
      from unnest(names) n (name)
      join lateral (select q.job, q.key from weir.tasks q where q.id = substr(n.name, 5)::uuid offset 0) q on true
      join lateral (select j.definition from weir.jobs j where j.id = q.job offset 0) j on true
      join weir.workflows w on w.id = j.definition,
        jsonb_array_elements(case when jsonb_typeof(w.definition) = 'array' then w.definition
            when jsonb_typeof(w.definition -> 'steps') = 'array' then w.definition -> 'steps' else '[]' end) s
      where s.value ->> 'key' = q.key
    ) m where m.size > 0
    on conflict do nothing
    returning name, size
  )
  insert into weir.events (at, type, kind, subject, source, data)
  select t, 'set', 'pool', m.name, 'workflow', jsonb_build_object('size', m.size) from made m;
end $$;
comment on function weir._map_pools is 'Makes the pools of maps, or makes them again.';
