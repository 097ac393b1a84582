-- One row of weir.doctor from the list of what breaks an invariant.
create or replace function weir._doctor(name text, found text[], level text default 'invariant')
returns table (name text, ok boolean, level text, detail text)
language sql immutable
as $$
  select _doctor.name, coalesce(cardinality(found), 0) = 0, _doctor.level,
    case
      when cardinality(found) > 0 then array_to_string(found[1:5], '; ')
        || case when cardinality(found) > 5 then format('; and %s more', cardinality(found) - 5) else '' end end
$$;
comment on function weir._doctor is 'A finding of the doctor.';
