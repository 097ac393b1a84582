-- Notes how far the numbers of tasks have come, with a transaction id that is newer than all who drew them. A number is
-- only drawn by a transaction that has its id (weir._submit); so whoever reads the last number first and gets an id of
-- its own after that has a newer one than every drawer of a number up to it. A transaction that has an id already
-- proves nothing and takes no horizon: call this first, in a transaction that has written nothing
-- (docs/decisions/0013).
-- The one before must have been used: otherwise a horizon that always moves would never be reached.
create or replace function weir._take_horizon() returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  drawn bigint;
begin
  if pg_current_xact_id_if_assigned() is not null or current_setting('transaction_isolation') <> 'read committed'
    or not pg_try_advisory_xact_lock(86, 1) then
    return;
  end if;
  select s.last_value into drawn from weir.order_seq s;
  if not exists (select from weir.horizon h where h.xid = 0 and h.order_seq + 1000 <= drawn) then
    return;
  end if;
  update weir.horizon set xid = pg_current_xact_id()::text::bigint, order_seq = drawn;
end $$;
comment on function weir._take_horizon is
  'Notes the last order_seq and a transaction id newer than all that drew one up to it.';
