-- What an operator should look at: nobody tends the engine, history lands in the default partition, dead rows pile up,
-- an old transaction holds everything back.
create or replace function weir._doctor_health(t timestamptz)
returns table (name text, ok boolean, level text, detail text)
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  return query select * from weir._doctor('leases that ran out are ended in time', array(
    select format('%s leases ran out more than 10 s ago: no server and no worker tends the engine', count(*))
    from weir.running r where r.until < t - interval '10 s' having count(*) > 0), 'health');
  return query select * from weir._doctor('tasks start when they are due', array(
    select format('%s tasks are due for more than 10 s: no server and no worker tends the engine', count(*))
    from weir.pending p where p.gate = 'time' and p.run_at < t - interval '10 s' having count(*) > 0), 'health');
  return query select * from weir._doctor('schedules can be read', array(
    select format('schedule %s is due since %s and cannot run: %s', s.name, s.next_at, x.why) from weir.schedules s,
      lateral (select case
        when s.spec !~ '^\s*(@every .+|@at .+|@[a-z]+|([0-9A-Za-z*,/?#-]+\s+){4}[0-9A-Za-z*,/?#-]+)\s*$' then
          format('%L is no cron line', s.spec)
        when s.zone not in ('', 'UTC')
          and not exists (select from pg_timezone_names z where z.name = s.zone) then
            format('there is no time zone %L', s.zone) end) x (why)
    where not s.paused and s.next_at < t - interval '60 s' and isfinite(s.next_at) and x.why is not null
    order by s.next_at), 'health');
  return query select * from weir._doctor('every task can be moved', array(
    select format('task %s: %s: %s; tried %s times since %s, again at %s: mend what the error names, or cancel the '
      'task',
      s.task,
      case s.doing when 'expire' then 'its lease ran out and cannot be ended'
        when 'due' then 'it is due and cannot go on' when 'open' then 'its gates are open and it cannot go on'
        else 'it has ended and those that need it cannot be told' end, s.error, s.tries, s.since, s.next_at)
        from weir.set_aside s), 'health');
  return query select * from weir._doctor('no task loses worker after worker', array(
    select format('task %s lost %s workers and is given to the next one, because only %s of these losses say something '
      'about the task: look at the machines, or cancel it', f.task, f.crashes, f.strikes)
    from weir.forgiven f where f.crashes > 4 and not exists (select from weir.finished x where x.task = f.task)
    order by f.crashes desc), 'health');
  return query select * from weir._doctor('every lane and pool can be opened', array(
    select format('%s %s: %s', case when l.lane then 'lane' else 'pool' end, l.key, l.error) from weir.left_keys l
    where l.error is not null
    union all
    select format('%s %s waits since %s for %s', case when l.lane then 'lane' else 'pool' end, l.key, l.at,
      coalesce(weir._sentence(weir._key_holder(l.lane, l.key)),
        'the next pass: no server and no worker tends the engine'))
    from weir.left_keys l where l.error is null and l.at < t - interval '10 s'), 'health');
  return query select * from weir._doctor('the end of a task is told on in time', array(
    select format('%s tasks ended more than 60 s ago and their dependents have not heard of it: no server and no '
      'worker tends the engine',
      count(*))
    from weir.unsettled u
    where u.at < t - interval '60 s' and not exists (select from weir.set_aside s where s.task = u.task)
    having count(*) > 0), 'health');
  return query select * from weir._doctor('tasks are planned in time', array(
    select format('%s tasks wait for a plan for more than 60 s, the first one is %s: no server runs, or it cannot plan '
      'them',
      count(*), min(p.task::text))
    from weir.pending p
    where p.gate = 'plan' and p.since < t - interval '60 s'
      and not exists (select from weir.job_live l where l.parent = p.task)
    having count(*) > 0), 'health');
  return query select * from weir._doctor('jobs are built when they are due', array(
    select format('%s queued jobs are due for more than 60 s, the first one is %s: no server builds them', count(*),
      min(l.job::text))
    from weir.job_live l
    where l.due < t - interval '60 s' and l.note is null having count(*) > 0), 'health');
  return query select * from weir._doctor('no job runs on for a task that has ended', array(
    select format('job %s runs for task %s, which is %s', l.job, l.parent, f.outcome)
    from weir.job_live l, lateral (select f.outcome, f.at from weir.finished f where f.task = l.parent offset 0) f
    where l.parent is not null and f.at < t - interval '60 s'), 'health');
  return query select * from weir._doctor('there are partitions for the coming days', array(
    select format('weir.%s ends at %s: run weir migrate, or start a server', x.parent,
      coalesce(x.hi::text, 'no range at all'))
    from (
      select p.parent, max(b.hi) as hi
      from unnest(array['tasks', 'finished', 'jobs', 'job_finished', 'events']) p (parent)
      left join weir._partitions() b on b.parent = p.parent group by p.parent
    ) x where coalesce(x.hi, '-infinity') < t + interval '1 day'), 'health');
  return query select * from weir._doctor('the timeline belongs to this cluster', array(
    select case
      when c.identity <> weir._cluster_identity() then
        'it was loaded from a dump of another cluster, and readers wait: start a server, or select weir.adopt_restore()'
      else 'it has transaction ids that this cluster has not reached, and readers wait: if it was loaded from a dump, '
        'select weir.adopt_restore(true)' end
    from weir.cluster c
    where c.identity <> weir._cluster_identity()
      or exists (select from weir.events e where e.xid > pg_snapshot_xmax(pg_current_snapshot())::text::bigint
      -- what the caller itself has just written may be ahead of the snapshot
      and e.xid is distinct from pg_current_xact_id_if_assigned()::text::bigint)), 'health');
  return query select * from weir._doctor('roles and grants are in place', array(
    select g || ': run weir migrate as the owner of the schema' from weir._ungranted() g), 'health');
  return query select * from weir._doctor('transactions are READ COMMITTED unless somebody says otherwise', array(
    select format('%s is the default of %s: claims meet serialization errors, and what a finish frees is opened by the '
      'next pass of weir.tend; reset default_transaction_isolation there',
      x.level, x.place)
    from (
      select substr(c, 31) as level,
        case when s.setrole = 0 then 'this database' else 'role ' || s.setrole::regrole end as place
      from pg_db_role_setting s, unnest(s.setconfig) c
      where s.setdatabase in (0, (select d.oid from pg_database d where d.datname = current_database()))
        and c like 'default_transaction_isolation=%'
      union
      select g.setting, 'the server' from pg_settings g
      where g.name = 'default_transaction_isolation' and g.source = 'configuration file'
    ) x where x.level <> 'read committed'), 'health');
  return query select * from weir._doctor('vacuum keeps up with the hot tables', array(
    select format('weir.%s has %s dead rows and %s live ones', s.relname, s.n_dead_tup, s.n_live_tup)
    from pg_stat_all_tables s
    where s.schemaname = 'weir' and s.relname in ('pending', 'available', 'running')
      and s.n_dead_tup > greatest(200000, 10 * s.n_live_tup)), 'health');
  return query select * from weir._doctor('no old transaction holds the timeline back', array(
    select format('pid %s (%s, database %s) writes since %s: readers of the timeline wait for it', a.pid,
      coalesce(nullif(a.application_name, ''), 'no name'), a.datname, a.xact_start)
    from pg_stat_activity a
    where a.backend_xid is not null and a.xact_start < t - interval '60 s'), 'health');
  return query select * from weir._doctor('no old snapshot keeps dead rows', array(
    select format('pid %s (%s) reads since %s', a.pid, coalesce(nullif(a.application_name, ''), 'no name'),
      a.xact_start)
    from pg_stat_activity a
    where a.backend_xmin is not null and a.backend_type = 'client backend' and a.xact_start < t - interval '10 min'),
      'health');
  return query select * from weir._doctor('no worker is lost while it holds tasks', array(
    select format('%s was last seen %s and holds %s tasks', w.name, w.seen_at, x.n) from weir.workers w
      join (select r.worker, count(*) as n from weir.running r where r.until < t group by r.worker) x
        on x.worker = w.id), 'health');
end $$;
comment on function weir._doctor_health is 'Findings for an operator.';
