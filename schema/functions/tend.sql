-- Keeps the engine going: due times, leases that ran out, rate limits, floors; with sweep also every waiting key. Anybody may call it at any
-- time; a second caller returns at once. Bounded: more says that another call has work to do; next_at when the next task is due.
create or replace function weir.tend(sweep boolean default false, at timestamptz default null, out opened int, out expired int, out more boolean, out next_at timestamptz)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := coalesce(tend.at, clock_timestamp());
  late record;
  due record;
  waiting_lanes text[];
  waiting_pools text[];
  rated text[];
begin
  opened := 0; expired := 0; more := false;
  if not pg_try_advisory_xact_lock(86, 0) then
    return;
  end if;
  select * into late from weir._expire(500, t);
  select * into due from weir._due(1000, t);
  if sweep then
    select * into waiting_lanes, waiting_pools from weir._waiting();
  end if;
  rated := array(select p.name from weir.pools p where p.rate is not null and exists (select from weir.pending w where w.gate = 'pool' and w.pool = p.name));
  opened := weir._after(late.ended, late.lanes || due.lanes || waiting_lanes, late.pools || due.pools || waiting_pools || rated, t);
  expired := late.total;
  more := expired = 500 or due.total = 1000;
  perform weir._raise_floors(t);
  next_at := least(
    (select min(p.run_at) from weir.pending p where p.gate = 'time'),
    (select min(p.next_at - p.per + p.per / p.rate) from weir.pools p where p.rate is not null and exists (select from weir.pending w where w.gate = 'pool' and w.pool = p.name)));
end $$;
comment on function weir.tend is 'One bounded pass of everything that time alone brings about.';
