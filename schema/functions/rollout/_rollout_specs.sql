-- The tasks of a frozen plan: by stage, database and change, in this order. The first databases of a stage are its
-- canaries.
create or replace function weir._rollout_specs(plan jsonb, hold text, pool text)
returns table (n bigint, stage int, database text, change int, version text, name text, kind text, canary boolean,
  key text, spec jsonb)
language sql immutable
as $$
  select row_number() over (order by s.ordinality, d.ordinality, c.ordinality), s.ordinality::int, d.value ->> 'name',
    (c.ordinality - 1)::int, x.version, x.name, x.kind, d.ordinality <= coalesce((s.value ->> 'canary')::int, 0), x.key,
    jsonb_strip_nulls(jsonb_build_object('service', 'rollout', 'key', x.key,
      'lane', 'database/' || (d.value ->> 'name'), 'rank', (c.value ->> 'rank')::bigint,
      'exclusive', x.kind <> 'data', 'pool', _rollout_specs.pool, 'hold', _rollout_specs.hold, 'max_attempts', 1,
      'orphan', 'stop', 'run_at', plan ->> 'run_at',
      'params', jsonb_build_object('stage', s.value ->> 'name', 'database', d.value ->> 'name', 'change', x.name,
        'version', x.version)))
  from jsonb_array_elements(plan -> 'stages') with ordinality s,
    jsonb_array_elements(s.value -> 'databases') with ordinality d,
    jsonb_array_elements(plan -> 'changes') with ordinality c,
    lateral (select nullif(c.value ->> 'version', '') as version, c.value ->> 'name' as name,
      c.value ->> 'kind' as kind,
      concat_ws('/', s.value ->> 'name', d.value ->> 'name',
        coalesce(nullif(c.value ->> 'version', ''), c.value ->> 'name')) as key) x
$$;
comment on function weir._rollout_specs is 'The tasks of a plan as the engine takes them.';
