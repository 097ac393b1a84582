-- Readers see what happened in the order in which it happened, also when a transaction had its id before those whose
-- work it goes on with (docs/decisions/0020).
-- +goose Up

-- Its body is in schema/functions; a default needs a function to be there.
-- +goose StatementBegin
create function weir._event_xid() returns bigint language plpgsql
as $$ begin return pg_current_xact_id()::text::bigint; end $$;
-- +goose StatementEnd
alter table weir.events alter column xid set default weir._event_xid();
comment on column weir.events.xid is
  'The transaction, or the newest one that had ended by then. A reader follows (xid, seq) below the oldest running '
  'one, so that late commits are never missed.';

-- The lock that the default takes keeps writers away, so what has a higher number than this is written by it.
alter table weir.cluster add column ordered_seq bigint not null default 0;
update weir.cluster set ordered_seq = (select last_value from weir.event_seq);
comment on column weir.cluster.ordered_seq is
  'Events with a higher number come to readers in the order in which they happened.';
