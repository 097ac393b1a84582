-- Ports as people write them: 5555, 8000-8010.
create or replace function weir._ports(ports int4multirange) returns text
language sql immutable parallel safe
as $$
  select string_agg(case when upper(r) - lower(r) = 1 then lower(r)::text
    else format('%s-%s', lower(r), upper(r) - 1) end, ', ' order by lower(r))
  from unnest(ports) r
$$;
comment on function weir._ports is 'Ports in words.';
