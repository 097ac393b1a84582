-- The timeline from a cursor on, in an order that never changes afterwards: by transaction, then by number, and only
-- transactions older than every one that still runs. A reader that passes the last cursor it saw misses nothing and
-- sees nothing twice (R8).
-- What is written after the end of another transaction comes behind it (weir._event_xid), so the events of a task come
-- in their order.
-- A cursor that this cluster cannot have given is refused (WR409): a reader that waited for it would miss what happens
-- until then.
-- n counts rows of the timeline; a row that tells of a whole batch is given as one line per task.
create or replace function weir.events_after(after text default '0.0', n int default 1000, only_job uuid default null,
  only_task uuid default null)
returns table (cursor text, seq bigint, at timestamptz, type text, kind text, subject text, job uuid, task uuid,
  attempt int, worker text, source text, level text, message text, data jsonb)
language plpgsql stable security definer
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  after_xid bigint;
  after_seq bigint;
begin
  perform weir._check(weir._bad_count('n', n));
  if after !~ '^[0-9]{1,18}\.[0-9]{1,19}$' then
    perform weir._invalid('after', '%L is not one of ours', jsonb_build_array(after),
      hint => 'start with 0.0, or with weir.events_tail() for what comes next');
  end if;
  after_xid := split_part(after, '.', 1)::bigint;
  after_seq := split_part(after, '.', 2)::bigint;
  if after_xid >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    or exists (select from weir.cluster c where after_xid > c.since_xid and after_seq < c.since_seq) then
    perform weir._conflict('%s is ahead of this database, or of another one', jsonb_build_array(after),
      hint => 'the database was restored or failed over: load what you show afresh, then go on from '
        'weir.events_tail(), or from 0.0 for everything that is kept',
      field => 'after');
  end if;
  return query
  select e.xid || '.' || e.seq, e.seq, e.at, e.type, coalesce(e.kind, 'task'), coalesce(e.subject, x.task::text), e.job,
    x.task, e.attempt::int, w.name, e.source, coalesce(e.level, 'info'), e.message, e.data
  from (
    select * from weir.events e
    where (e.xid, e.seq) > (after_xid, after_seq) and e.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
      and (only_job is null or e.job = only_job)
      and (only_task is null or e.task = only_task or only_task = any (e.tasks))
    order by e.xid, e.seq limit n
  ) e
  left join lateral (select u.task from unnest(coalesce(e.tasks, array[e.task])) u (task)
    where only_task is null or u.task = only_task) x
    on true
  left join weir.workers w on w.id = e.worker
  order by e.xid, e.seq;
end $$;
comment on function weir.events_after is 'The timeline after a cursor, without gaps.';
