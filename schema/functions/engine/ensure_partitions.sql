-- Makes the partitions for now and ahead of time. Rows that found no range landed in the default partition; they move
-- into the new one.
-- No vacuum is due for rows that were only inserted: they are dropped with their partition.
-- In UTC, because days of other zones are not all of one length, and a border that moves by an hour makes the name of a
-- partition twice.
-- A partition spans days days from where the last one ends. Returns the names of those made.
create or replace function weir.ensure_partitions(days int default 7, ahead interval default '14 days',
  at timestamptz default null)
returns text[]
language plpgsql security definer
set search_path = weir, pg_temp
set timezone = 'UTC'
as $$
declare
  t timestamptz := weir._clock(at);
  made text[] := '{}';
  of text;
  lo timestamptz;
  hi timestamptz;
  part text;
  key text;
  bounds text;
begin
  if days not between 1 and 366 then
    perform weir._invalid('days', '1 to 366');
  end if;
  if ahead not between interval '0' and interval '2 years' then
    perform weir._invalid('ahead', '0 to 2 years');
  end if;
  perform pg_advisory_xact_lock(85, 0);
  perform set_config('lock_timeout', '5s', true);
  foreach of in array array['tasks', 'finished', 'jobs', 'job_finished', 'events'] loop
    key := case of when 'tasks' then 'id' when 'jobs' then 'id' when 'finished' then 'task'
      when 'job_finished' then 'job' else 'at' end;
    select coalesce(max(p.hi), date_trunc('week', t at time zone 'UTC') at time zone 'UTC') into lo
    from weir._partitions() p where p.parent = of;
    while lo < t + ahead loop
      hi := lo + make_interval(days => days);
      part := of || '_' || to_char(lo at time zone 'UTC', 'YYYYMMDD');
      bounds := case when of = 'events' then format('from (%L) to (%L)', lo, hi)
        else format('from (%L) to (%L)', weir._id_at(lo), weir._id_at(hi)) end;
      execute format('create table weir.%I (like weir.%I including all) with (autovacuum_vacuum_insert_threshold = -1)',
        part, of);
      execute format('with moved as (delete from weir.%I where %I >= %L and %I < %L returning *) insert into weir.%I '
        'select * from moved',
        of || '_default', key, case when of = 'events' then lo::text else weir._id_at(lo)::text end, key,
        case when of = 'events' then hi::text else weir._id_at(hi)::text end, part);
      execute format('alter table weir.%I attach partition weir.%I for values %s', of, part, bounds);
      made := made || part;
      lo := hi;
    end loop;
  end loop;
  return made;
end $$;
comment on function weir.ensure_partitions is 'Makes partitions ahead of time and returns their names.';
