-- A worker by hand, from psql, as a member of weir_worker:
--   psql -v ON_ERROR_STOP=1 -f worker.sql 'postgresql://me@localhost/weir'
\pset format unaligned
\pset tuples_only on

-- Lease one task. The row is yours for 30 seconds, and so is the token.
select task, attempt, token, params from weir.claim('psql', array['resize']) \gset
select 'claimed: ' || :'params';

-- Say how far it is, then that it is done. Every write carries the token.
select 'progress: ' || weir.record(:'task', :attempt, :'token', 'progress', data => '{"percent": 50}');
select 'finish: ' || weir.finish(:'task', :attempt, :'token', '{"width": 640}');

-- The same again is harmless, and a token that is not the live one changes nothing.
select 'finish again: ' || weir.finish(:'task', :attempt, :'token');
select 'finish with another token: ' || weir.finish(:'task', 2, gen_random_uuid());
