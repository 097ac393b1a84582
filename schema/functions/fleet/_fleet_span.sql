-- A span of time in the spec of a fleet job, within bounds; the default when the field is absent.
create or replace function weir._fleet_span(spec jsonb, field text, usual interval, lowest interval, highest interval)
returns interval
language plpgsql immutable
as $$
declare
  span interval;
begin
  if spec -> field is null or spec -> field = 'null' then
    return usual;
  end if;
  begin
    span := (spec ->> field)::interval;
  exception when others then
    span := null;
  end;
  if span is null or jsonb_typeof(spec -> field) <> 'string' or span < lowest or span > highest then
    perform weir._invalid(field, '%s is no span of time between %s and %s',
      jsonb_build_array((spec -> field)::text, weir._span(lowest), weir._span(highest)),
      hint => 'write it as 90s, 20m or 1h30m');
  end if;
  return span;
end $$;
comment on function weir._fleet_span is 'A span of a spec, or WR422.';
