-- Hands leases back without spending an attempt: drain, shutdown, or (with until) snooze. A task handed back keeps its
-- lane and its place in the pool; a snoozed one frees them and waits. hint as in weir.finish_many. A task that was
-- handed back very often keeps its attempt (weir._attempt_limit). fault: what is broken on the node, which alone is why
-- the work is handed back; see weir.report_faults. begun: the work had begun. Work that breaks a node each time it runs
-- would be handed back for ever, so after weir._fault_limit of those the attempt has failed.
create or replace function weir.give_back_many(tasks uuid[], attempts int[], tokens uuid[],
  until timestamptz default null, note text default null, hint boolean default true, fault text default null,
  begun boolean default false, at timestamptz default null)
returns table (task uuid, refusal text, attempt int)
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(give_back_many.at);
  wake timestamptz := give_back_many.until;
  r weir.running;
  got uuid[] := '{}';
  got_attempts int[] := '{}';
  ended uuid[] := '{}';
  lanes text[] := '{}';
  pools text[] := '{}';
  counts boolean;
  broke int;
begin
  perform weir._check(weir._bad_time('until', wake), weir._bad_fault(fault));
  for r in
    with d as (
      delete from weir.running r
      using (select * from unnest(give_back_many.tasks, attempts, tokens) g (task, attempt, token) order by g.task) g
      where r.task = any (give_back_many.tasks) and r.task = g.task and r.attempt = g.attempt and r.token = g.token
      returning r.*
    ) select * from d order by d.task
  loop
    got := got || r.task;
    got_attempts := got_attempts || r.attempt::int;
    if r.cancel_at is not null or wake is not null then
      lanes := lanes || r.lane;
      pools := pools || r.pool;
    end if;
    counts := r.attempt <= weir._attempt_limit();
    if counts then
      insert into weir.forgiven as f (task, returns, faults)
      values (r.task, 1, case when fault is not null and begun then 1 else 0 end)
      on conflict (task) do update set returns = f.returns + 1, faults = f.faults + excluded.faults
      returning f.faults into broke;
    end if;
    if fault is not null and begun and broke > weir._fault_limit() then
      update weir.forgiven f set returns = f.returns - 1 where f.task = r.task;
      lanes := lanes || r.lane;
      pools := pools || r.pool;
      if weir._fail(r, note, false, null, t, 'node') then
        ended := ended || r.task;
      end if;
    elsif r.cancel_at is not null then
      perform weir._left_pool(r.pool);
      perform weir._close(array[weir._finished_lease(r, 'canceled', r.cancel_note, t)]);
      ended := ended || r.task;
    elsif wake is null then
      perform weir._give_up_lease(r, 'returned', note, t, counts, fault);
    else
      perform weir._requeue(r, wake, 'snoozed', note, t, counts);
    end if;
  end loop;
  if hint and wake is null and cardinality(got) > 0 then
    perform pg_notify('weir_available', '');
  end if;
  perform weir._after_end(ended, array_remove(lanes, null), array_remove(pools, null), t, hint);
  if cardinality(got) < cardinality(give_back_many.tasks) then
    return query select *
    from weir._refuse(case when wake is null then 'give_back' else 'snooze' end, give_back_many.tasks, attempts, tokens,
      got, got_attempts, t);
  end if;
end $$;
comment on function weir.give_back_many is
  'Returns leased tasks without spending an attempt; until: not before then (snooze). Returns only those that were '
  'refused.';
