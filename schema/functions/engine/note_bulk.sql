-- A person did the same to all tasks or jobs of a filter: one event says so, beside those of the things themselves,
-- because nobody finds a decision again that is spread over ten thousand rows.
create or replace function weir.note_bulk(kind text, action text, filter jsonb, matched int, changed int,
  refused int default 0, by text default null, reason text default null,
  at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(note_bulk.at);
  words text;
begin
  if coalesce(note_bulk.kind, '') not in ('task', 'job') then
    perform weir._invalid('kind', '%L is neither task nor job', jsonb_build_array(note_bulk.kind));
  end if;
  if coalesce(note_bulk.action, '') !~ '^[a-z]{1,20}$' then
    perform weir._invalid('action', '%L is no word for what was done', jsonb_build_array(note_bulk.action));
  end if;
  if jsonb_typeof(note_bulk.filter) is distinct from 'object' or note_bulk.filter = '{}'
    or pg_column_size(note_bulk.filter) > 16384 then
    perform weir._invalid('filter', 'expected an object that names what was chosen');
  end if;
  words := (select string_agg(f.key || ' ' || f.value, ', ' order by f.key) from jsonb_each_text(note_bulk.filter) f);
  insert into weir.events (at, type, kind, subject, source, message, data)
  values (t, note_bulk.action, 'bulk', note_bulk.kind, note_bulk.by,
    weir._text(concat_ws(': ',
        format('%s of %s %ss with %s', note_bulk.changed, note_bulk.matched, note_bulk.kind, words),
        nullif(note_bulk.reason, ''))),
    jsonb_build_object('filter', note_bulk.filter, 'matched', note_bulk.matched, 'changed', note_bulk.changed,
      'refused', note_bulk.refused));
end $$;
comment on function weir.note_bulk is 'Says in the timeline what was done to all tasks or jobs of a filter.';
