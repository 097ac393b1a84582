-- A plan with the databases of its stages written out as they are now: what they are called, where they belong, and which they are. Writes nothing.
-- A stage names databases, or has an environment and labels that choose them; with neither it takes the environment of its own name.
create or replace function weir.rollout_freeze(plan jsonb) returns jsonb
language plpgsql stable security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  stage jsonb;
  named text[];
  chosen jsonb;
  bad text;
  stages jsonb := '[]';
begin
  for stage in select s.value from jsonb_array_elements(rollout_freeze.plan -> 'stages') with ordinality s order by s.ordinality loop
    named := array(select jsonb_array_elements_text(coalesce(nullif(stage -> 'databases', 'null'), '[]')));
    select n into bad from unnest(named) n where not exists (select from weir.databases d where d.name = n) limit 1;
    if bad is not null then
      perform weir._invalid(format('stages: stage %s names database %s, which is not registered', stage ->> 'name', bad), 'register it: weir database add');
    end if;
    select jsonb_agg(jsonb_build_object('name', d.name, 'engine', d.engine, 'environment', d.environment, 'identity', d.identity) order by array_position(named, d.name::text), d.name)
    into chosen from weir.databases d
    where case when cardinality(named) > 0 then d.name = any (named)
      else d.labels @> coalesce(nullif(stage -> 'labels', 'null'), '{}')
        and d.environment = coalesce(nullif(stage ->> 'environment', ''), case when coalesce(nullif(stage -> 'labels', 'null'), '{}') = '{}' then stage ->> 'name' else d.environment end) end;
    if chosen is null then
      perform weir._invalid(format('stages: stage %s has no database', stage ->> 'name'), 'name databases, or see which there are: weir database list');
    end if;
    if (stage ->> 'canary')::int > jsonb_array_length(chosen) then
      perform weir._invalid(format('stages: stage %s: canary is %s, and it has %s', stage ->> 'name', stage ->> 'canary', case jsonb_array_length(chosen) when 1 then '1 database' else format('%s databases', jsonb_array_length(chosen)) end),
        'canaries go before the others: give fewer');
    end if;
    stages := stages || jsonb_build_array(stage - 'labels' || jsonb_build_object('databases', chosen));
  end loop;
  select format('stages: database %s is in stage %s and in stage %s', x.name, min(x.stage), max(x.stage)) into bad
  from (select s.value ->> 'name' as stage, d.value ->> 'name' as name from jsonb_array_elements(stages) s, jsonb_array_elements(s.value -> 'databases') d) x
  group by x.name having count(*) > 1 order by x.name limit 1;
  if bad is not null then
    perform weir._invalid(bad, 'a database belongs to one stage');
  end if;
  return rollout_freeze.plan || jsonb_build_object('stages', stages);
end $$;
comment on function weir.rollout_freeze is 'A plan with its databases written out.';
