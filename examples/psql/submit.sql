-- Submit and look, from psql, as a member of weir_client:
--   psql -v ON_ERROR_STOP=1 -f submit.sql 'postgresql://me@localhost/weir'
\pset format unaligned
\pset tuples_only on

-- One task. Arguments are named; all but the service have defaults.
select weir.submit('resize', '{"image": "cat.png"}', priority => 10) as task \gset
select 'submitted: ' || state from weir.task where id = :'task';

-- Two that may not run at the same time, and one that a person must release.
select weir.set_pool('scanner', size => 1);
select weir.submit('scan', '{"page": 1}', pool => 'scanner'), weir.submit('scan', '{"page": 2}', pool => 'scanner') as second \gset
select weir.submit('publish', hold => 'the editor') as held \gset
select weir.open_gates();

-- Why do they wait?
select gate || ': ' || reason from weir.why(:'second') where not open;
select gate || ': ' || reason from weir.why(:'held') where not open;
select weir.release(:'held', by => 'ann');
select 'released: ' || state from weir.task where id = :'held';
