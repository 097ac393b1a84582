-- Live content of an earlier release, made by its own functions. Statements are separated by empty lines, and each is a
-- transaction. Functions keep their arguments, so this text serves every release.

select weir.ensure_partitions() from weir.adopt_restore();

select weir.set_pool('encoders', size => 1, note => 'one encoder'), weir.set_pool('mail', rate => 60, per => '1 min');

select weir.register_node('studio', '{"gpu": "yes"}', '{"encode": 4}');

select weir.register_worker('old@studio', array['encode', 'mail', 'site', 'first', 'lost', 'shaky'], 'studio');

-- Tasks: leased, lost with its lease, to be tried again, at a pool, at a lane, at a time, on hold, in need of another
-- one, free, and ended.

select weir.submit('encode', '{"is": "leased"}', pool => 'encoders');

select weir.tend(true);

select count(*) from weir.claim('old@studio', array['encode'], lease => '10 min');

select weir.submit('encode', '{"is": "at the pool"}', pool => 'encoders');

select weir.submit('lost', '{"is": "lost"}', backoff => '10 ms');

select count(*) from weir.claim('old@studio', array['lost'], lease => '100 ms');

select weir.submit('shaky', '{"is": "retrying"}', max_attempts => 5, backoff => '10 ms', backoff_cap => '10 ms');

select weir.fail(c.task, c.attempt, c.token, 'the disk was shaky') from weir.claim('old@studio', array['shaky']) c;

select weir.submit('site', '{"is": "in the lane"}', lane => 'site', exclusive => true);

select weir.tend(true);

select count(*) from weir.claim('old@studio', array['site'], lease => '10 min');

select weir.submit('site', '{"is": "at the lane"}', lane => 'site', exclusive => true);

select weir.submit('mail', '{"is": "at its time"}', run_at => now() + interval '1 h', unique_key => 'letter');

select weir.submit('mail', '{"is": "on hold"}', hold => 'the editor reads it first', idempotency_key => 'once');

select weir.submit('mail', '{"is": "free"}', pool => 'mail', labels => '{"gpu": "yes"}');

select weir.submit('mail', '{"is": "canceled"}');

select weir.cancel(t.id, 'ada', 'no more') from weir.tasks t where t.params ->> 'is' = 'canceled';

select weir.submit_job('[{"key": "a", "service": "first", "params": {"is": "done"}},
  {"key": "b", "service": "mail", "needs": ["a"], "params": {"is": "in need"}},
  {"key": "c", "service": "mail", "needs": ["b"], "params": {"is": "in need of that"}}]', 'film');

select weir.finish(c.task, c.attempt, c.token, '{"frames": 24}') from weir.claim('old@studio', array['first']) c;

select weir.set_schedule('hourly', '@every 1h', '{"service": "mail", "params": {"is": "scheduled"}}', now());

-- People, their tokens and secrets. The token and the key of the secret are in the test.

insert into weir.users (id, name, role, created_at)
values ('01980000-0000-7000-8000-000000000001', 'ada', 'admin', now());

insert into weir.tokens (hash, id, user_id, name, scopes, created_at, expires_at)
select sha256('weir_pat_00000000000000000000000000000000000000000003Mx7IQ'), '01980000-0000-7000-8000-000000000002', u.id, 'script', array['*:*'], now(),
  now() + interval '1 day' from weir.users u;

select weir.put_secret('MAIL_PASSWORD', decode('016dae91ed9d3a689d6d8a8e15c012212458f2dc81015f0e6b7de915b8c3ada116cf22c1833c', 'hex'), '66687aad', 1, 'ada');

-- Rollouts: not begun, waiting for a yes, approved, and in the middle of a run. The addresses of their databases are
-- secrets that the test puts.

select weir.rollout_put_database(x, 'postgres', x, 'DATABASE_' || x) from unnest(array['held', 'asked', 'approved',
  'midway']) x;

select weir.rollout_create(jsonb_build_object('name', x, 'parallel', 2,
    'stages', jsonb_build_array(jsonb_build_object('name', x, 'approvals', (x in ('asked', 'approved'))::int)),
    'changes', jsonb_build_array(jsonb_build_object('version', '1', 'rank', 1, 'name', 'first', 'kind', 'ddl',
      'file', 'V1__first.sql', 'checksum', s.sum, 'transaction', true))),
  jsonb_build_object(s.sum, s.text), by => 'ada')
from unnest(array['held', 'asked', 'approved', 'midway']) x,
  (select v, encode(sha256(convert_to(v, 'UTF8')), 'hex') from (values (E'create table film (id int);\n')) t (v)) s (text, sum);

select weir.rollout_start(r.id, 'ada') from weir.rollout r where r.name <> 'held';

select weir.tend(true);

select count(*) from (select weir.register_worker('executor@old', array['rollout'])) w,
  weir.claim('executor@old', array['rollout'], lease => '100 ms') c,
  lateral weir.rollout_brief(c.task, c.attempt, c.token, 'executor@old') b,
  lateral weir.rollout_phase(c.task, c.attempt, c.token, 'sent') p;

select weir.rollout_approve(r.id, 'approved', 'bob') from weir.rollout r where r.name = 'approved';

-- A fleet with an active job, one run of it leased, and a job behind it.

select count(*) from weir.fleet_report('lab', '[{"serial": "A1", "hub": "1"}, {"serial": "A2", "hub": "1"},
  {"serial": "A3", "hub": "2"}]', slots => 2);

select weir.fleet_submit('smoke', '{"run": {"argv": ["true"]}, "target": {"all": true}, "linger": "0 s"}', 'ada');

select weir.fleet_submit('nightly', '{"run": {"argv": ["true"]}, "target": {"all": true}, "linger": "0 s"}', 'ada');

select count(*) from weir.fleet_claim('lab@old', 'lab', max => 1, lease => '10 min');

select weir.device_maintain('A3', 'ada', 'a new cable');

-- A workspace that is wanted, and one that rests.

select weir.workspace_create(u.id, x, 'process', desired => 'STANDBY', by => 'ada') from weir.users u,
  unnest(array['desk', 'shelf']) x;

-- A workflow by plain SQL, with a job that is due and one that is not.

insert into flow.workflows (name, version, steps) values ('greet', 1, '[
  {"key": "one", "service": "first", "depends_on": [], "default_params": {"is": "step one"}},
  {"key": "two", "service": "first", "depends_on": ["one"], "default_params": {"is": "step two"}}]');

insert into flow.jobs (workflow_id, status, order_seq, scheduled_at, options)
select w.id, 'queued', nextval('flow.order_seq'), x.at, '{"params": {}}'
from flow.workflows w, (values (now()), (now() + interval '1 h')) x (at);
