-- A worker says goodbye. What it still holds goes back at once instead of waiting for the leases to run out. With
-- holder (see weir.register_worker) only the process that has the name ends it: one that lost it would hand back what
-- its successor runs. keep: its work goes on without it, and its leases stay until they run out, for the next process
-- of that name to go on with.
create or replace function weir.stop_worker(name text, holder text default null, keep boolean default false,
  at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(stop_worker.at);
  w int;
  tasks uuid[];
  attempts int[];
  tokens uuid[];
begin
  update weir.workers x set stopped_at = t
  where x.name = stop_worker.name and (stop_worker.holder is null or x.holder is not distinct from stop_worker.holder)
  returning x.id into w;
  if not found then
    return;
  end if;
  perform weir._own_node((select n.name from weir.workers x join weir.nodes n on n.id = x.node where x.id = w));
  insert into weir.events (at, type, kind, subject, worker, message)
  select t, 'stopped', 'worker', stop_worker.name, w, case when stop_worker.keep and count(*) > 0 then
    format('%s tasks go on running without it', count(*)) end
  from weir.running r where r.worker = w;
  if stop_worker.keep then
    return;
  end if;
  select array_agg(r.task), array_agg(r.attempt), array_agg(r.token) into tasks, attempts, tokens from weir.running r
  where r.worker = w;
  perform weir.give_back_many(tasks, attempts, tokens, null, 'the worker stopped', at => stop_worker.at);
end $$;
comment on function weir.stop_worker is 'Ends a worker and hands back what it holds.';
