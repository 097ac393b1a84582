-- Changes what is noted about a pool, and nothing else of it. An empty note takes the old one away.
create or replace function weir.note_pool(name text, note text, by text default null, at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(note_pool.at);
begin
  if length(note_pool.note) > 1000 then
    perform weir._invalid('note', 'at most 1000 characters');
  end if;
  perform weir._hold_keys(array[note_pool.name], false);
  update weir.pools p set note = nullif(note_pool.note, ''), resized_at = t where p.name = note_pool.name;
  if not found then
    perform weir._not_found('pool', note_pool.name, hint => null);
  end if;
  insert into weir.events (at, type, kind, subject, source, data)
  values (t, 'set', 'pool', note_pool.name, note_pool.by, jsonb_build_object('note', note_pool.note));
end $$;
comment on function weir.note_pool is 'Changes the note of a pool.';
