-- Notes that a range of the timeline was written elsewhere, so that weir.drop_partitions may drop it. rows must be what
-- the range holds: one that got a row since it was read is refused (WR409), and nothing is lost.
create or replace function weir.mark_exported(partition text, location text, rows bigint, at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(mark_exported.at);
  held bigint;
begin
  if coalesce(mark_exported.location, '') = '' then
    perform weir._invalid('location', 'say where the rows were written');
  end if;
  if not exists (select from weir._partitions() p
    where p.parent = 'events' and p.name = mark_exported.partition and p.hi <= t) then
    perform weir._not_found('ended partition of the timeline', mark_exported.partition);
  end if;
  execute format('select count(*) from weir.%I', mark_exported.partition) into held;
  if held is distinct from mark_exported.rows then
    perform weir._conflict('partition %s has %s rows, %s were exported',
      jsonb_build_array(mark_exported.partition, held, mark_exported.rows), hint => 'export it again');
  end if;
  insert into weir.exports as x (partition, location, rows, exported_at)
  values (mark_exported.partition, mark_exported.location, held, t)
  on conflict (partition) do update set location = excluded.location, rows = excluded.rows,
    exported_at = excluded.exported_at;
  insert into weir.events (at, type, kind, subject, data) values (t, 'exported', 'partition', mark_exported.partition,
    jsonb_build_object('location', mark_exported.location, 'rows', held));
end $$;
comment on function weir.mark_exported is 'Notes that a partition of the timeline was exported and may be dropped.';
