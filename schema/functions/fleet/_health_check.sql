-- Refuses a health task of the policy unless it can be run: run, as a fleet job has it, timeout, power, the command
-- that switches a device that is out off and on, and by_label, a list of at most 20 other health tasks, each with
-- match, the conditions on labels of the devices that it is for.
create or replace function weir._health_check(health jsonb, field text default 'health') returns void
language plpgsql immutable
as $$
declare
  inner_field text;
  task jsonb;
  bad text;
begin
  if jsonb_typeof(health) <> 'object'
    or jsonb_typeof(health -> 'run') is distinct from 'object' or health -> 'run' = '{}' then
    perform weir._invalid(field || '.run', 'say what the health task runs',
      hint => 'for example {"run": {"argv": ["./health.sh"]}, "timeout": "5m"}; null: there is none');
  end if;
  if health -> 'run' ?| array['setup', 'cleanup'] then
    perform weir._invalid(field || '.run', 'a health task has no set-up and no clean-up',
      hint => 'let its command do it');
  end if;
  if health -> 'run' ? 'power' then
    perform weir._invalid(field || '.run.power', 'there is no such field', hint => 'power is a field beside run');
  end if;
  perform weir._fleet_command(jsonb_build_object(field || '.power', health -> 'power'), field || '.power');
  perform weir._fleet_span(jsonb_build_object(field || '.timeout', health -> 'timeout'), field || '.timeout', '5 min',
    '1 s', '1 day');
  select k into bad from jsonb_object_keys(health) k
  where k not in ('run', 'timeout', 'power', case when field = 'health' then 'by_label' else 'match' end) limit 1;
  if bad is not null then
    perform weir._invalid(field || '.' || bad, 'there is no such field',
      hint => 'use run, timeout, power and, for devices with other labels, by_label');
  end if;
  if coalesce(health -> 'by_label', 'null') = 'null' then
    return;
  end if;
  if jsonb_typeof(health -> 'by_label') <> 'array' or jsonb_array_length(health -> 'by_label') > 20 then
    perform weir._invalid('health.by_label', 'expected at most 20 health tasks',
      hint => 'for example [{"match": ["os=ios"], "run": {"argv": ["./ios.sh"]}}]');
  end if;
  for inner_field, task in select format('health.by_label[%s]', x.nth - 1), x.value
    from jsonb_array_elements(health -> 'by_label') with ordinality x (value, nth) loop
    perform weir._health_check(task, inner_field), weir._label_conditions(task -> 'match', inner_field || '.match');
  end loop;
end $$;
comment on function weir._health_check is 'WR422 unless it is a health task.';
