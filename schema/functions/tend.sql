-- Keeps the engine going: due times, leases that ran out, rate limits, floors; with sweep also every waiting key. Anybody may call it at any
-- time; a second caller returns at once. Workers are told when there may be something for them. Bounded: more says that another call has work to do; next_at when the next task is due.
create or replace function weir.tend(sweep boolean default false, at timestamptz default null, out opened int, out expired int, out more boolean, out next_at timestamptz)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(tend.at);
  late record;
  due record;
  lanes text[];
  pools text[];
  canceled uuid;
begin
  opened := 0; expired := 0; more := false;
  if not pg_try_advisory_xact_lock(86, 0) then
    return;
  end if;
  perform weir._take_horizon(); -- before anything is written
  if sweep then
    -- A task that changed hands while its job was cancelled is caught here, in a turn of its own.
    select j.job into canceled from weir.job_live j where j.cancel_at is not null and weir._waits(j.job) limit 1 for update skip locked;
    if found then
      perform weir._end_waiting(array(select q.id from weir.tasks q where q.job = canceled), 'canceled', 'canceled with its job', t);
      more := true;
      return;
    end if;
    select * into lanes, pools from weir._waiting();
  end if;
  pools := pools || array(select p.name from weir.pools p where p.rate is not null and exists (select from weir.pending w where w.gate = 'pool' and w.pool = p.name));
  -- Leases, jobs, pending rows, then lanes and pools once: the order of locks that weir._settle names.
  select * into late from weir._expire(500, t);
  select * into lanes, pools from weir._settle(late.ended, lanes || late.lanes, pools || late.pools, t);
  select * into due from weir._due(1000, t);
  if cardinality(lanes || due.lanes) > 0 or cardinality(pools || due.pools) > 0 then
    opened := weir._open(lanes || due.lanes, pools || due.pools, t);
  end if;
  opened := opened + coalesce(due.opened, 0);
  expired := late.total;
  more := expired = 500 or due.total = 1000;
  if opened + expired > 0 then
    perform pg_notify('weir_available', '');
  end if;
  perform weir._raise_floors();
  next_at := least(
    (select min(p.run_at) from weir.pending p where p.gate = 'time'),
    (select min(weir._rate_room_at(p.name, p.per, t)) from weir.pools p where p.rate is not null and exists (select from weir.pending w where w.gate = 'pool' and w.pool = p.name)));
  -- No later than a day from now, so that the caller can count the time to it in any unit.
  next_at := case when next_at > t + interval '1 day' then t + interval '1 day' else next_at end;
end $$;
comment on function weir.tend is 'One bounded pass of everything that time alone brings about.';
