-- Reads the spec of a fleet job into the columns of its row, or refuses it with the field and the fix.
create or replace function weir._fleet_spec(spec jsonb) returns weir.fleet_jobs
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  j weir.fleet_jobs;
  infra jsonb := coalesce(nullif(spec -> 'infra', 'null'), '{}');
  target jsonb := coalesce(nullif(spec -> 'target', 'null'), '{}');
  bad text;
begin
  if jsonb_typeof(spec) is distinct from 'object' then
    perform weir._invalid('spec', 'expected a JSON object', hint => 'a fleet job has at least run and target');
  end if;
  if pg_column_size(spec) > 1000000 then
    perform weir._invalid('spec', 'it is over 1 MB', hint => 'give data as files, not as params');
  end if;
  if jsonb_typeof(spec -> 'run') is distinct from 'object' or spec -> 'run' = '{}' then
    perform weir._invalid('run', 'say what runs on a device', hint => 'for example {"argv": ["./test.sh"]}');
  end if;
  if spec -> 'run' ?| array['setup', 'cleanup'] then
    perform weir._invalid('run', 'setup and cleanup are fields of the job', hint => 'write them beside run, not in it');
  end if;
  perform weir._fleet_command(spec, 'setup'), weir._fleet_command(spec, 'cleanup');
  if jsonb_typeof(target) <> 'object' then
    perform weir._invalid('target', 'expected an object with all, devices, labels, tag or match');
  end if;
  select k into bad from jsonb_object_keys(target) k where k not in ('all', 'devices', 'labels', 'tag', 'match')
  limit 1;
  if bad is not null then
    perform weir._invalid('target.' || bad, 'there is no such field', hint => 'use all, devices, labels, tag or match');
  end if;
  if target = '{}' or target = '{"all": false}' then
    perform weir._invalid('target', 'say on which devices',
      hint => 'for example {"all": true}, {"devices": ["SERIAL"]}, {"labels": {"model": "x"}} or {"tag": "x"}');
  end if;
  if target ? 'all' and jsonb_typeof(target -> 'all') <> 'boolean'
    or target ? 'tag' and (jsonb_typeof(target -> 'tag') <> 'string' or target ->> 'tag' = '') then
    perform weir._invalid('target', 'all is true, tag is text');
  end if;
  if target ? 'labels' then
    perform weir._check_labels(target -> 'labels');
  end if;
  if target ? 'match' then
    perform weir._label_conditions(target -> 'match', 'target.match');
  end if;
  if target ? 'devices' then
    if jsonb_typeof(target -> 'devices') <> 'array' or jsonb_array_length(target -> 'devices') not between 1 and 100000
      or exists (select from jsonb_array_elements(target -> 'devices') d where jsonb_typeof(d) <> 'string') then
      perform weir._invalid('target.devices', 'expected 1 to 100,000 serials');
    end if;
    select d into bad from jsonb_array_elements_text(target -> 'devices') d
    where not exists (select from weir.devices x where x.serial = d and x.health <> 'retired') limit 1;
    if exists (select from weir.devices x where x.serial = bad) then
      perform weir._invalid('target.devices', 'device %s is retired', jsonb_build_array(bad),
        hint => 'leave it out, or release it if it is back', command => format('weir device release %s', bad));
    elsif bad is not null then
      perform weir._invalid('target.devices', 'there is no device %s', jsonb_build_array(bad),
        hint => 'see what there is', command => 'weir device list');
    end if;
  end if;
  j.lane := coalesce(nullif(spec ->> 'lane', ''), 'default');
  if jsonb_typeof(spec -> 'lane') not in ('string', 'null') or j.lane !~ '^[a-z0-9][a-z0-9._-]{0,62}$' then
    perform weir._invalid('lane', '%s is no name of a lane', jsonb_build_array((spec -> 'lane')::text),
      hint => 'use at most 63 small letters, digits, dots, dashes and underscores, for example android');
  end if;
  if jsonb_typeof(infra) <> 'object' then
    perform weir._invalid('infra', 'expected an object with attempts, exit and place');
  end if;
  j.place := coalesce(infra ->> 'place', 'same');
  if j.place not in ('same', 'other_device', 'other_pc') then
    perform weir._invalid('infra.place', '%L is not same, other_device or other_pc', jsonb_build_array(j.place));
  end if;
  if coalesce(spec ->> 'join', 'pending') not in ('pending', 'running') then
    perform weir._invalid('join', '%L is not pending or running', jsonb_build_array(spec ->> 'join'));
  end if;
  perform weir._fleet_number(spec, 'any', null, 1, 100000), weir._fleet_number(spec, 'repeat', 1, 1, 10000);
  if infra ? 'exit' then
    if jsonb_typeof(infra -> 'exit') <> 'array'
      or exists (select from jsonb_array_elements(infra -> 'exit') e where e::text !~ '^[0-9]{1,3}$') then
      perform weir._invalid('infra.exit', 'expected an array of exit codes');
    end if;
    -- The agent knows them by this name.
    spec := jsonb_set(spec, '{run,infra_on}', infra -> 'exit');
  end if;
  j.spec := spec;
  j.joins := coalesce(spec ->> 'join' = 'running', false);
  j.priority := weir._fleet_number(spec, 'priority', 0, -100, 100);
  j.max_attempts := weir._fleet_number(spec, 'attempts', 3, 1, 100);
  j.infra_attempts := weir._fleet_number(infra, 'attempts', 3, 1, 100);
  j.breaker := weir._fleet_number(spec, 'breaker', 5, 0, 100000);
  j.timeout := weir._fleet_span(spec, 'timeout', '20 min', '1 s', '30 days');
  j.backoff := weir._fleet_span(spec, 'backoff', '10 s', '0', '1 day');
  j.linger := weir._fleet_span(spec, 'linger', '2 min', '0', '30 days');
  return j;
end $$;
comment on function weir._fleet_spec is 'The row of a fleet job from its spec, or WR422.';
