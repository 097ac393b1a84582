-- Counts a lost lease, whose running row was just removed, and returns how many lost leases are evidence against the
-- task: three of them are poison. A loss is evidence if the node (or the worker, if it has no node) has not lost this
-- task before, or if the worker was lost within a minute of the claim. An outage of the same node during long work says
-- nothing about the work. What counted before is forgotten if the worker was in contact for an hour. The contact is
-- judged by when the worker was last seen and not by the end of the lease, because a lease may be much longer than the
-- time between two heartbeats.
create or replace function weir._strike(r weir.running) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  place int := coalesce(r.node, -r.worker);
  contact interval := (select w.seen_at - r.claimed_at from weir.workers w where w.id = r.worker);
  early boolean := coalesce(contact < interval '1 minute', true);
  healthy boolean := coalesce(contact >= interval '1 hour', false);
  n int;
begin
  insert into weir.forgiven as f (task, crashes, strikes, places) values (r.task, 1, 1, array[place])
  on conflict (task) do update set crashes = f.crashes + 1,
    strikes = case when healthy then 1 when early or place <> all (f.places) then f.strikes + 1 else f.strikes end,
    places = case when healthy then array[place] when place = any (f.places) then f.places else f.places || place end
  returning f.strikes into n;
  return n;
end $$;
comment on function weir._strike is 'Counts a lost lease: how many are evidence against the task.';
