-- Looks at held tasks that ask for something: what expired fails or goes on, as it says, and an event that came before
-- the task waited is given to it. Jobs are locked first, in the order of their ids; one that another caller holds is
-- left to the next look. Returns how many tasks it moved.
create or replace function weir.settle_asks(at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(settle_asks.at);
  moved int := 0;
  of_job uuid;
  a record;
begin
  update weir.asks x set open = false where x.open and exists (select from weir.finished f where f.task = x.task);
  for of_job in
    select x.job from weir.asks x join weir.pending p on p.task = x.task
    where x.open and p.gate = 'hold' and (p.since + x.expires <= t
      or x.event is not null and exists (select from weir.signals s where s.job = x.job and s.event = x.event))
    group by x.job order by x.job limit 100
  loop
    perform from weir.job_live l where l.job = of_job and l.cancel_at is null for update skip locked;
    continue when not found;
    moved := moved + weir._give_signals(of_job, t);
    for a in select x.* from weir.asks x join weir.pending p on p.task = x.task
      where x.job = of_job and x.open and p.gate = 'hold' and p.since + x.expires <= t order by x.task
    loop
      perform weir._expire_ask(a.task, a.event, a.late, a.expires, t);
      moved := moved + 1;
    end loop;
  end loop;
  return moved;
end $$;
comment on function weir.settle_asks is 'Ends or releases held tasks whose time to be decided is over.';
