-- A horizon that was taken from a snapshot may hide tasks of transactions that were open at that time: it is thrown
-- away, and the next weir.tend takes one by its own transaction id (docs/decisions/0013).
-- +goose Up
update weir.horizon set xid = 0;
comment on table weir.horizon is
  'Every order_seq up to order_seq was drawn by a transaction older than xid. Floors rise to it once no such '
  'transaction runs any more; xid is 0 when they have, or when none was taken yet.';
