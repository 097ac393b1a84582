-- A plan with the databases of its stages written out as they are now: what they are called, where they belong, and
-- which they are. Writes nothing.
-- A stage names databases, or has an environment and labels that choose them; with neither it takes the environment of
-- its own name.
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
  twice text[];
  stages jsonb := '[]';
begin
  for stage in select s.value from jsonb_array_elements(rollout_freeze.plan -> 'stages') with ordinality s
    order by s.ordinality loop
    named := array(select jsonb_array_elements_text(coalesce(nullif(stage -> 'databases', 'null'), '[]')));
    select n into bad from unnest(named) n where not exists (select from weir.databases d where d.name = n) limit 1;
    if bad is not null then
      perform weir._invalid('stages', 'stage %s names database %s, which is not registered',
        jsonb_build_array(stage ->> 'name', bad), hint => 'register it', command => 'weir database add');
    end if;
    select jsonb_agg(jsonb_build_object('name', d.name, 'engine', d.engine, 'environment', d.environment,
        'identity', d.identity)
      order by array_position(named, d.name::text), d.name)
    into chosen from weir.databases d
    where case when cardinality(named) > 0 then d.name = any (named)
      else d.labels @> coalesce(nullif(stage -> 'labels', 'null'), '{}')
        and d.environment = coalesce(nullif(stage ->> 'environment', ''),
          case when coalesce(nullif(stage -> 'labels', 'null'), '{}') = '{}' then stage ->> 'name'
            else d.environment end) end;
    if chosen is null then
      perform weir._invalid('stages', 'stage %s has no database', jsonb_build_array(stage ->> 'name'),
        hint => 'name databases, or see which there are', command => 'weir database list');
    end if;
    if (stage ->> 'canary')::int > jsonb_array_length(chosen) then
      perform weir._invalid('stages', 'stage %s: canary is %s, and it has %s',
        jsonb_build_array(stage ->> 'name', stage ->> 'canary',
          case jsonb_array_length(chosen) when 1 then '1 database'
            else format('%s databases', jsonb_array_length(chosen)) end),
        hint => 'canaries go before the others: give fewer');
    end if;
    stages := stages || jsonb_build_array(stage - 'labels' || jsonb_build_object('databases', chosen));
  end loop;
  select array[x.name, min(x.stage), max(x.stage)] into twice
  from (select s.value ->> 'name' as stage, d.value ->> 'name' as name
    from jsonb_array_elements(stages) s, jsonb_array_elements(s.value -> 'databases') d) x
  group by x.name having count(*) > 1 order by x.name limit 1;
  if twice is not null then
    perform weir._invalid('stages', 'database %s is in stage %s and in stage %s', to_jsonb(twice),
      hint => 'a database belongs to one stage');
  end if;
  return rollout_freeze.plan || jsonb_build_object('stages', stages);
end $$;
comment on function weir.rollout_freeze is 'A plan with its databases written out.';
