-- The worker that claims for a PC; made if it is new, as a script that never registered is. A worker of another node is
-- refused.
create or replace function weir._fleet_worker(worker text, n weir.nodes, t timestamptz) returns weir.workers
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  w weir.workers;
begin
  select * into w from weir.workers x where x.name = _fleet_worker.worker;
  if w.node is null then
    -- A node before its worker, as weir.heartbeat locks them.
    perform from weir.nodes x where x.id = n.id for no key update;
    w := weir._worker(_fleet_worker.worker, array['fleet'], t);
    update weir.workers x set node = n.id where x.id = w.id and x.node is null;
    select * into w from weir.workers x where x.id = w.id;
  end if;
  if w.node <> n.id then
    perform weir._conflict('worker %s belongs to another PC than %s', jsonb_build_array(_fleet_worker.worker, n.name),
      hint => 'claim under a name of its own');
  end if;
  return w;
end $$;
comment on function weir._fleet_worker is 'The worker of a PC.';
