-- draining: finish what runs, claim nothing. paused: claim nothing. active: back to work, also for a PC that is paused
-- because it lost devices. until: the mode ends by itself then.
create or replace function weir.set_node_mode(name text, mode text, note text default null,
  until timestamptz default null, by text default null, at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_node_mode.at);
begin
  if set_node_mode.mode is null or set_node_mode.mode not in ('active', 'draining', 'paused') then
    perform weir._invalid('mode', '%L is not active, draining or paused', jsonb_build_array(set_node_mode.mode));
  end if;
  perform weir._check(weir._bad_time('until', set_node_mode.until), weir._bad_text('by', set_node_mode.by, 500),
    weir._bad_text('note', set_node_mode.note, 8000));
  update weir.nodes n
  set mode = set_node_mode.mode, mode_at = t, note = set_node_mode.note, mode_until = set_node_mode.until
  where n.name = set_node_mode.name;
  if not found then
    perform weir._not_found('node', set_node_mode.name, hint => null);
  end if;
  insert into weir.events (at, type, kind, subject, source, message, data)
  values (t, set_node_mode.mode, 'node', set_node_mode.name, set_node_mode.by, set_node_mode.note,
    jsonb_strip_nulls(jsonb_build_object('until', set_node_mode.until)));
end $$;
comment on function weir.set_node_mode is 'Drains, pauses or activates a node.';
