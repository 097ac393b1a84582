-- Retention: drops partitions that ended before keep, never deletes history row by row. A range of tasks stays while
-- one of them or its job still lives, or ended later than that; a range of events stays, with need_export, until it was
-- exported. Returns the names of those dropped.
create or replace function weir.drop_partitions(keep interval, need_export boolean default false,
  at timestamptz default null)
returns text[]
language plpgsql security definer
set search_path = weir, pg_temp
set timezone = 'UTC'
set jit = off
as $$
declare
  cut timestamptz;
  dropped text[] := '{}';
  p record;
  young boolean;
begin
  if keep < interval '1 hour' then
    perform weir._invalid('keep', 'at least one hour');
  end if;
  perform weir._check(weir._bad_span('keep', keep));
  cut := weir._clock(at) - keep;
  perform pg_advisory_xact_lock(85, 0);
  perform set_config('lock_timeout', '5s', true);
  for p in select * from weir._partitions() x where x.hi <= cut order by x.hi, x.parent loop
    if p.parent = 'events' then
      continue when need_export and not exists (select from weir.exports e where e.partition = p.name);
    else
      if p.parent in ('tasks', 'finished') then
        execute format('select exists (
            select from weir.finished f where f.task >= %1$L and f.task < %2$L and f.at > %3$L)
          or exists (select from weir.pending x where x.task >= %1$L and x.task < %2$L)
          or exists (select from weir.available x where x.task >= %1$L and x.task < %2$L)
          or exists (select from weir.running x where x.task >= %1$L and x.task < %2$L)
          or exists (select from weir.job_live l where l.job < %2$L
            and exists (select from weir.tasks q where q.job = l.job and q.id >= %1$L and q.id < %2$L))',
          weir._id_at(p.lo), weir._id_at(p.hi), cut) into young;
      else
        execute format('select exists (
            select from weir.job_finished f where f.job >= %1$L and f.job < %2$L and f.at > %3$L)
          or exists (select from weir.job_live x where x.job >= %1$L and x.job < %2$L)',
          weir._id_at(p.lo), weir._id_at(p.hi), cut) into young;
      end if;
      continue when young;
    end if;
    execute format('drop table weir.%I', p.name);
    dropped := dropped || p.name;
    if p.parent = 'tasks' then
      delete from weir.forgiven f where f.task < weir._id_at(p.hi) and f.task >= weir._id_at(p.lo);
      delete from weir.patience x where x.task < weir._id_at(p.hi) and x.task >= weir._id_at(p.lo);
      delete from weir.asks x where x.task < weir._id_at(p.hi) and x.task >= weir._id_at(p.lo);
      delete from weir.signals x where x.job < weir._id_at(p.hi) and x.job >= weir._id_at(p.lo);
      delete from weir.idempotency k
      where k.id < weir._id_at(p.hi) and k.id >= weir._id_at(p.lo)
        and not exists (select from weir.job_live l where l.job = k.id);
      delete from weir.lane_blocks b where b.task < weir._id_at(p.hi) and b.task >= weir._id_at(p.lo);
    end if;
    if p.parent = 'jobs' then
      delete from weir.given_ids g where g.job < weir._id_at(p.hi) and g.job >= weir._id_at(p.lo);
    end if;
  end loop;
  if cardinality(dropped) > 0 then
    delete from weir.workers w where w.seen_at < cut and not exists (select from weir.running r where r.worker = w.id);
  end if;
  return dropped;
end $$;
comment on function weir.drop_partitions is 'Drops partitions older than keep and returns their names.';
