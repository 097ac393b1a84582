-- Keeps the engine going: due times, leases that ran out, rate limits, floors; with sweep also every waiting key.
-- Anybody may call it at any time; a second caller returns at once. Workers are told when there may be something for
-- them. Bounded: more says that another call has work to do; next_at when the next task is due.
-- Each part is a subtransaction: an error undoes that part alone, which is then done row by row, and the row to blame
-- is set aside (docs/decisions/0014). No part waits for a lock that somebody else has: what it guards is left to the
-- next pass.
create or replace function weir.tend(sweep boolean default false, at timestamptz default null, out opened int,
  out expired int, out more boolean, out next_at timestamptz)
language plpgsql security definer
set search_path = weir, pg_temp
set lock_timeout = '200ms'
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(tend.at);
  late record;
  chains record;
  due record;
  lanes text[];
  pools text[];
  of_job uuid;
  stops boolean;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform weir._conflict('weir.tend in a transaction that is %s: its snapshot is older than the locks that keep '
      'limits',
      jsonb_build_array(current_setting('transaction_isolation')), hint => 'begin isolation level read committed');
  end if;
  opened := 0; expired := 0; more := false;
  if not pg_try_advisory_xact_lock(86, 0) then
    return;
  end if;
  perform weir._take_horizon(); -- before anything is written
  perform weir._raise_floors();
  if sweep then
    -- A task that changed hands while its job was cancelled is caught here, in a turn of its own.
    for of_job, stops in select j.job, j.stop_at is not null from weir.job_live j
      where j.cancel_at is not null and weir._has_waiting(j.job, j.stop_at is not null) limit 20 loop
      begin
        perform from weir.job_live j where j.job = of_job for update skip locked;
        continue when not found;
        perform weir._end_waiting(weir._canceled_tasks(of_job, stops), 'canceled', 'canceled with its job', t);
        more := true;
        return;
      exception when others then
        raise warning 'job % cannot be canceled: %', of_job, sqlerrm;
      end;
    end loop;
    select * into lanes, pools from weir._waiting_keys();
  end if;
  begin
    select * into late from weir._tend_leases(500, t);
  exception when others then
    select * into late from weir._tend_singly('expire', 500, t);
  end;
  select * into chains from weir._tend_chains(t);
  begin
    select * into due from weir._open_due(1000, t);
  exception when others then
    select * into due from weir._tend_singly('due', 1000, t);
  end;
  pools := pools
    || array(select p.name from weir.pools p
      where p.rate is not null and exists (select from weir.pending w where w.gate = 'pool' and w.pool = p.name));
  opened := coalesce(due.opened, 0)
    + weir._tend_gates(lanes || late.lanes || chains.lanes || due.lanes,
      pools || late.pools || chains.pools || due.pools, t);
  expired := late.total;
  more := expired = 500 or due.total = 1000 or exists (select from weir.left_keys l where not l.busy)
    or exists (select from weir.unsettled u
      where (select true from weir.set_aside s where s.task = u.task and s.next_at > t) is null);
  if opened + expired > 0 then
    perform pg_notify('weir_available', '');
  end if;
  -- What could be moved after all, or has ended.
  delete from weir.set_aside s
  where (s.doing <> 'expire'
    or not exists (select from weir.running r where r.task = s.task and (r.until < t or r.deadline < t)))
    and (s.doing not in ('due', 'open') or not exists (select from weir.pending p where p.task = s.task))
    and (s.doing <> 'settle' or not exists (select from weir.unsettled u where u.task = s.task));
  next_at := least(
    (select min(p.run_at) from weir.pending p
      where p.gate = 'time' and (select true from weir.set_aside s where s.task = p.task and s.next_at > t) is null),
    (select min(weir._rate_room_at(p.name, p.per, t)) from weir.pools p
      where p.rate is not null and exists (select from weir.pending w where w.gate = 'pool' and w.pool = p.name)));
  -- No later than a day from now, so that the caller can count the time to it in any unit.
  next_at := case when next_at > t + interval '1 day' then t + interval '1 day' else next_at end;
end $$;
comment on function weir.tend is 'One bounded pass of everything that time alone brings about.';
