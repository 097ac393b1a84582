-- The calls of schema fleet carry no token. They say which PC and which attempt reports, and only the live lease of
-- both is taken: its attempt and token come back. Without an attempt the one that the PC holds is meant, unless an
-- earlier one was taken from it: its report may still be under way, and nobody could tell the two apart.
-- What is refused is recorded as stale, and so it is a warning with its code and no error, which would undo the record.
-- repeated: the same report was accepted before. Null attempt: refused.
create or replace function weir._fleet_find_lease(op text, of_task uuid, pc text, of_attempt int, t timestamptz,
  out attempt int, out token uuid, out repeated boolean)
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  n weir.nodes;
  q record;
  r weir.running;
  last int;
  code text := 'WR410';
  why text;
begin
  repeated := false;
  if of_attempt not between 1 and 32767 then
    perform weir._invalid('attempt', '%s is none', jsonb_build_array(of_attempt),
      hint => 'it is in the row that was claimed');
  end if;
  select x.* into n from weir.nodes x join weir.pcs p on p.node = x.id where x.name = _fleet_find_lease.pc;
  if not found then
    perform weir._not_found('PC', _fleet_find_lease.pc, hint => 'insert its devices first, into fleet.devices');
  end if;
  select x.job, x.key into q from weir.tasks x join weir.classes c on c.id = x.class
  where x.id = of_task and c.service = 'fleet';
  if not found then
    perform weir._not_found('task_device', of_task::text);
  end if;
  -- Locked: what is said here of the lease holds until the caller has used it.
  select * into r from weir.running x where x.task = of_task for update;
  if r.node = n.id
    and (of_attempt = r.attempt
      or of_attempt is null and not weir._fleet_attempt_revoked(of_task, n.id, 1, r.attempt - 1)) then
    attempt := r.attempt;
    token := r.token;
    return;
  end if;
  last := coalesce(of_attempt, r.attempt, (select f.attempt from weir.finished f where f.task = of_task),
    (select max(e.attempt) from weir.events e where e.task = of_task and e.type <> 'stale'));
  if r.attempt is distinct from last and (
    op = 'complete'
      and exists (select from weir.finished f join weir.workers w on w.id = f.worker
        where f.task = of_task and f.outcome = 'done' and f.attempt = last and w.node = n.id)
    or op = 'fail' and not weir._fleet_attempt_revoked(of_task, n.id, last, last)
      and exists (select from weir.events e join weir.workers w on w.id = e.worker
        where e.task = of_task and e.attempt = last and e.type in ('retrying', 'failed') and w.node = n.id)) then
    attempt := last;
    repeated := true;
    return;
  end if;
  if r.node = n.id and of_attempt is null then
    code := 'WR409';
    why := format('an earlier attempt was taken from %s and may report still', n.name);
  elsif r.attempt = last then
    why := format('attempt %s runs on %s', last, (select x.name from weir.nodes x where x.id = r.node));
  else
    why := format('the lease of attempt %s is over', last);
  end if;
  insert into weir.events (at, type, job, task, attempt, level, message, data)
  values (t, 'stale', q.job, of_task, last, 'warn', format('%s of %s refused: %s', op, n.name, why),
    jsonb_build_object('op', op, 'pc', n.name));
  raise warning using errcode = code, message = format('%s of %s refused: %s', op, coalesce(q.key, of_task::text), why),
    hint = case code when 'WR409' then 'say which attempt reports: attempt => the attempt of the row that was claimed'
      else 'stop the work: it is tried again, or has ended' end;
end $$;
comment on function weir._fleet_find_lease is 'The lease that a PC means, or null and a warning.';
