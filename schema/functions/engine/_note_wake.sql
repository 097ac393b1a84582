-- One step in the waking of a node, with its event: waking (a try begins), called (its means have done their part),
-- awake (it was seen since), failed (the try came to nothing), asleep (it was told to sleep).
-- False: the node is not in a state in which that can happen, so somebody else was first.
create or replace function weir._note_wake(name text, step text, note text, data jsonb, by text, t timestamptz)
returns boolean
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  was weir.nodes;
  said text := weir._text(nullif(_note_wake.note, ''));
begin
  if _note_wake.step not in ('waking', 'called', 'awake', 'failed', 'asleep') then
    perform weir._invalid('step', '%L is not waking, called, awake, failed or asleep',
      jsonb_build_array(_note_wake.step));
  end if;
  select * into was from weir.nodes n where n.name = _note_wake.name for no key update;
  if was.id is null then
    perform weir._not_found('node', _note_wake.name, hint => null);
  end if;
  case _note_wake.step
    when 'waking' then
      if was.wake_method is null then
        perform weir._conflict('nobody knows how to wake node %s', jsonb_build_array(was.name),
          hint => 'say how: weir.set_wake');
      end if;
      if weir._awake(was, t) or was.wake_state = 'waking' then
        return false;
      end if;
      update weir.nodes n set wake_state = 'waking', wake_at = t, wake_tries = n.wake_tries + 1, wake_note = said
      where n.id = was.id;
    when 'called' then
      null;
    when 'awake' then
      if was.wake_state = 'awake' then
        return false;
      end if;
      said := coalesce(said,
        case when was.wake_state = 'waking' then format('after %s', weir._span(t - was.wake_at)) end);
      update weir.nodes n set wake_state = 'awake', wake_at = t, wake_tries = 0, wake_note = null where n.id = was.id;
    when 'failed' then
      if was.wake_state <> 'waking' then
        return false;
      end if;
      update weir.nodes n set wake_state = 'asleep', wake_at = t, wake_note = said where n.id = was.id;
    else
      update weir.nodes n set wake_state = 'asleep', wake_at = t, wake_tries = 0, wake_note = null where n.id = was.id;
  end case;
  insert into weir.events (at, type, kind, subject, source, level, message, data)
  values (t,
    case _note_wake.step when 'failed' then 'wake_failed' when 'called' then 'wake_called' else _note_wake.step end,
    'node', was.name, _note_wake.by, case when _note_wake.step = 'failed' then 'warn' end, said,
    nullif(coalesce(_note_wake.data, '{}')
      || case
        when _note_wake.step in ('waking', 'called', 'failed') then
          jsonb_build_object('method', was.wake_method, 'try', was.wake_tries + (_note_wake.step = 'waking')::int)
        else '{}' end, '{}'));
  return true;
end $$;
comment on function weir._note_wake is 'Notes a step in the waking of a node.';
