-- One step in the waking of a node, as whoever wakes it reports it: waking, called, awake, failed or asleep. False:
-- somebody else was first.
create or replace function weir.note_wake(name text, step text, note text default null, data jsonb default null,
  by text default null, at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
begin
  return weir._note_wake(note_wake.name, note_wake.step, note_wake.note, note_wake.data, note_wake.by,
    weir._clock(note_wake.at));
end $$;
comment on function weir.note_wake is 'Notes a step in the waking of a node: waking, called, awake, failed or asleep.';
