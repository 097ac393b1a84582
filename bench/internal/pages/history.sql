-- One slice of the history: jobs $1 to $2 of $3, the first of all submitted at $4, one every $5; and with every hundredth job a hundred tasks without one.
-- Each job: one task, then those in the middle, then the last one, which failed in one job of fifty and was canceled in one of a hundred.
with job as materialized (
  select i, t, stem, total, (stem || '001' || substr(gen_random_uuid()::text, 19))::uuid as id,
    array(select (stem || lpad(to_hex(p), 3, '0') || substr(gen_random_uuid()::text, 19))::uuid from generate_series(1, total) p) as ids,
    (case when i % 50 = 7 then 'failed' when i % 100 = 33 then 'canceled' else 'done' end)::weir.state as outcome,
    t + interval '1 s' * case when i % 50 = 7 then 15 when i % 100 = 33 then 8.5 else 12 end as ended
  from (
    select i, t, weir._id_prefix(t) as stem, 3 + i % 13 as total
    from generate_series($1::int, $2::int) i, lateral (select date_trunc('milliseconds', $4::timestamptz + i * $5::interval) as t) x
  ) x
), task as materialized (
  select j.i, j.id as job, j.t, j.ids, j.total, p, j.ids[p] as id, case when p = j.total then j.outcome else 'done' end as outcome,
    case when p = 1 then 0 when p < j.total then 1 else 2 end as wave, 1 + (j.i * 7 + p) % 200 as class
  from job j, generate_series(1, j.total) p
), single as materialized (
  select b, s, t, outcome, id, class from (
    select b, s, t, (case when s % 50 = 1 then 'failed' else 'done' end)::weir.state as outcome,
      -- One class has been used only long ago, and one hardly ever.
      case when b <= 3 then 201 when b % 1000 = 500 and s = 1 then 202 else 1 + (b + s) % 200 end as class,
      (weir._id_prefix(t) || lpad(to_hex(s), 3, '0') || substr(gen_random_uuid()::text, 19))::uuid as id
    from (select i / 100 as b, t from job where i % 100 = 0) x, generate_series(1, 100) s
  ) z
), put_jobs as (
  insert into weir.jobs (id, created_at, order_seq, kind, name, priority, total, params)
  select id, t, i, case when i % 1000 = 1 then 'rare' when i % 10 < 6 then 'workflow' when i % 10 < 9 then 'rollout' else 'fleet' end,
    case when i % 50000 = 3 then 'special-' || i when i % 2 = 0 then 'nightly-' || i % 1000 else 'deploy-' || i % 300 end, 0, total, '{"branch": "main"}' from job order by i
), put_job_ends as (
  insert into weir.job_finished (job, at, outcome, done, failed, canceled, skipped, cause)
  select id, ended, outcome, total - (outcome <> 'done')::int, (outcome = 'failed')::int, (outcome = 'canceled')::int, 0,
    case outcome when 'failed' then 'step-' || total || ': exit status 1' when 'canceled' then 'step-' || total || ': canceled with its job' end from job order by i
), put_tasks as (
  insert into weir.tasks (id, order_seq, class, position, max_attempts, job, key, params, rule, needs)
  select id, i, class, p, case when wave = 2 then 2 end, job, 'step-' || p, jsonb_build_object('step', p, 'commit', md5(i::text)), case when wave > 0 then 'all_success'::weir.rule end,
    case wave when 1 then ids[1:1] when 2 then ids[2:total - 1] end from task
  union all
  select id, $3::int + (b - 1) * 100 + s, class, 0, null, null, null, jsonb_build_object('number', s), null, null from single
), put_ends as (
  insert into weir.finished (task, at, started_at, worker, attempt, outcome, opened_at, result, cause)
  select id, t + interval '1 s' * case when wave = 0 then 3 when wave = 1 then 8 when outcome = 'failed' then 15 when outcome = 'canceled' then 8.5 else 12 end,
    case when outcome <> 'canceled' then t + interval '1 s' * case when wave = 0 then 1 when wave = 1 then 4 when outcome = 'failed' then 13 else 9 end end,
    case when outcome <> 'canceled' then 1 + i % 400 end, case outcome when 'failed' then 2 when 'canceled' then 0 else 1 end, outcome,
    case wave when 1 then t + interval '3 s' when 2 then t + interval '1 s' * case when outcome = 'failed' then 12 else 8 end end,
    case when outcome = 'done' then '{"ok": true}'::jsonb end, case outcome when 'failed' then 'exit status 1' when 'canceled' then 'canceled with its job' end from task
  union all
  select id, t + interval '2 s', t + interval '1 s', 1 + b % 400, 1, outcome, null, null, case when outcome = 'failed' then 'timed out after 1s' end from single
), said as (
  select i * 32 + 1 as seq, t as at, null::int as worker, null::int as attempt, 'submitted' as type, 'job' as kind, id::text as subject, id as job, null::uuid as task, null::uuid[] as tasks, null as level, 'job ' || i as message, null::jsonb as data from job
  union all select i * 32 + 2, t, null, null, 'submitted', null, null, id, null, ids[1:1], null, null, null from job
  union all select i * 32 + 3, t, null, null, 'gated', null, null, id, null, ids[2:], null, null, null from job
  union all select i * 32 + 4, t + interval '1 s', 1 + i % 400, 1, 'claimed', null, null, id, null, ids[1:1], null, null, null from job
  union all select i * 32 + 5, t + interval '3 s', 1 + i % 400, 1, 'done', null, null, id, null, ids[1:1], null, null, null from job
  union all select i * 32 + 6, t + interval '3 s', null, 0, 'opened', null, null, id, null, ids[2:total - 1], null, null, null from job
  union all select i * 32 + 7, t + interval '4 s', 1 + i % 400, 1, 'claimed', null, null, id, null, ids[2:total - 1], null, null, null from job
  union all select i * 32 + 8, t + interval '8 s', 1 + i % 400, 1, 'done', null, null, id, null, ids[2:total - 1], null, null, null from job
  union all select i * 32 + 9, t + interval '8 s', null, 0, 'opened', null, null, id, null, ids[total:], null, null, null from job
  union all select i * 32 + 10, t + interval '9 s', 1 + i % 400, 1, 'claimed', null, null, id, null, ids[total:], null, null, null from job where outcome <> 'canceled'
  union all select i * 32 + 11, ended, 1 + i % 400, 1, 'done', null, null, id, null, ids[total:], null, null, null from job where outcome = 'done'
  union all select i * 32 + 11, ended, null, 0, 'canceled', null, null, id, ids[total], null, null, 'canceled with its job', null from job where outcome = 'canceled'
  union all select i * 32 + 11, t + interval '10 s', 1 + i % 400, 1, 'retrying', null, null, id, ids[total], null, 'warn', 'exit status 1',
    jsonb_build_object('claimed_at', t + interval '9 s', 'opened_at', t + interval '8 s', 'run_at', t + interval '12 s') from job where outcome = 'failed'
  union all select i * 32 + 12, t + interval '12 s', null, 1, 'opened', null, null, id, null, ids[total:], null, null, null from job where outcome = 'failed'
  union all select i * 32 + 13, t + interval '13 s', 1 + i % 400, 2, 'claimed', null, null, id, null, ids[total:], null, null, null from job where outcome = 'failed'
  union all select i * 32 + 14, ended, 1 + i % 400, 2, 'failed', null, null, id, ids[total], null, 'error', 'exit status 1', null from job where outcome = 'failed'
  union all select i * 32 + 15, ended, null, null, outcome::text, 'job', id::text, id, null, null, null, case when outcome <> 'done' then 'step-' || total || ': ' || outcome end, null from job
  union all select b * 3200 + 16, t, null, null, 'submitted', null, null, null, null, array_agg(id order by s), null, null, null from single group by b, t
  union all select b * 3200 + 17, t + interval '1 s', 1 + b % 400, 1, 'claimed', null, null, null, null, array_agg(id order by s), null, null, null from single group by b, t
  union all select b * 3200 + 18, t + interval '2 s', 1 + b % 400, 1, 'done', null, null, null, null, array_agg(id order by s), null, null, null from single where outcome = 'done' group by b, t
  union all select b * 3200 + 19 + s / 50, t + interval '2 s', 1 + b % 400, 1, 'failed', null, null, null, id, null, 'error', 'timed out after 1s', null from single where outcome = 'failed'
)
insert into weir.events (seq, xid, at, worker, attempt, type, kind, subject, job, task, tasks, level, message, data)
select seq, 0, at, worker, attempt, type, kind, subject, job, task, tasks, level, message, data from said order by seq
