-- The trigger of weir.workers: a worker said goodbye. With the last one that lives, its PC has left.
create or replace function weir._pc_left() returns trigger
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  update weir.pcs p set left_at = new.stopped_at where p.node = new.node and p.left_at is null
    and not exists (select from weir.workers o where o.node = new.node and o.id <> new.id and o.stopped_at is null
      and o.seen_at > new.stopped_at - interval '45 s');
  return null;
end $$;
comment on function weir._pc_left is 'A PC leaves with its last worker.';
