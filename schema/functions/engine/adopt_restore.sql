-- Makes a database go on that finds itself in another cluster, because a dump of it was loaded there: transaction ids
-- of the timeline mean nothing in it. Whatever this cluster has not reached gets the id of this transaction, so that it
-- comes before everything that is written from now on, in the order of seq, and readers and floors do not wait for it.
-- Events with a higher seq come along: within a task, seq is the order.
-- Whether it is another cluster is decided by its identity, once. Everywhere else it reads one row and returns 0.
-- another: true says so where nobody can tell.
-- Writers of events wait meanwhile, and those under way are waited for; only then the transaction gets its id. So no
-- event of this cluster has a higher one.
-- Numbers of events leave a gap, by which weir.events_after knows cursors of the other cluster.
create or replace function weir.adopt_restore(another boolean default null) returns bigint
language plpgsql security definer
set search_path = weir, pg_temp
as $$
declare
  here bigint := weir._cluster_identity();
  was bigint := (select c.identity from weir.cluster c);
  now_xid bigint;
  first bigint;
  moved bigint := 0;
begin
  if another is not true and (here is null or was is not distinct from here) then
    return 0;
  end if;
  if pg_current_xact_id_if_assigned() is not null or current_setting('transaction_isolation') <> 'read committed' then
    perform weir._conflict('adopt_restore: it needs a transaction of its own, in read committed',
      hint => 'call it outside of a transaction block: select weir.adopt_restore()');
  end if;
  perform pg_advisory_xact_lock(86, 2);
  select c.identity into was from weir.cluster c;
  if another is not true and was is not distinct from here then
    return 0; -- somebody else has just done it
  end if;
  if was is null and another is not true then
    update weir.cluster set identity = here;
    return 0;
  end if;
  lock table weir.events in share row exclusive mode;
  now_xid := pg_current_xact_id()::text::bigint;
  select min(e.seq) into first from weir.events e where e.xid > now_xid;
  if first is not null then
    update weir.events e set xid = now_xid where e.seq >= first and e.xid <> now_xid;
    get diagnostics moved = row_count;
  end if;
  update weir.horizon h set xid = 0 where h.xid > now_xid;
  update weir.classes c set opened_mark = 0 where c.opened_mark > 0;
  update weir.pools p set mark = 0 where p.mark > 0;
  -- What was not added up yet is left out.
  update weir.tallied x set xid = now_xid, seq = 9223372036854775807 where x.xid >= now_xid or first is not null;
  update weir.cluster
  set identity = here, since_xid = now_xid,
    since_seq = setval('weir.event_seq', (select s.last_value from weir.event_seq s) + 1000000);
  return moved;
end $$;
comment on function weir.adopt_restore is
  'Makes a database that was loaded from a dump go on in another cluster. Returns how many events it moved.';
