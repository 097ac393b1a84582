-- Conditions as they are kept: what was seen, each with the time since when its status is what it is.
create or replace function weir._workspace_conditions(was jsonb, seen jsonb, t timestamptz) returns jsonb
language sql stable
set search_path = weir, pg_temp
as $$
  select coalesce(jsonb_object_agg(s.key, s.value || jsonb_build_object('last_transition_time',
    case when was -> s.key -> 'status' = s.value -> 'status' then was -> s.key -> 'last_transition_time'
      else to_jsonb(t) end)), '{}')
  from jsonb_each(seen) s
$$;
comment on function weir._workspace_conditions is 'Conditions with the times of their changes.';
