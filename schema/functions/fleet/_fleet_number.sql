-- A whole number in the spec of a fleet job, within bounds; the default when the field is absent.
create or replace function weir._fleet_number(spec jsonb, field text, usual int, lowest int, highest int) returns int
language plpgsql immutable
as $$
begin
  if spec -> field is null or spec -> field = 'null' then
    return usual;
  end if;
  if jsonb_typeof(spec -> field) <> 'number' or spec ->> field !~ '^-?[0-9]{1,9}$'
    or (spec ->> field)::int not between lowest and highest then
    perform weir._invalid(field, '%s is no whole number between %s and %s',
      jsonb_build_array((spec -> field)::text, lowest, highest));
  end if;
  return (spec ->> field)::int;
end $$;
comment on function weir._fleet_number is 'A number of a spec, or WR422.';
