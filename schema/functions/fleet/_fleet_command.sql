-- Refuses the set-up or the clean-up of a fleet job unless it is a command: argv, a list of words, and timeout. It runs
-- on the PC, without a shell.
create or replace function weir._fleet_command(spec jsonb, field text) returns void
language plpgsql immutable
as $$
declare
  command jsonb := spec -> field;
  bad text;
begin
  if command is null or command = 'null' then
    return;
  end if;
  if jsonb_typeof(command) <> 'object' or jsonb_typeof(command -> 'argv') is distinct from 'array'
    or jsonb_array_length(command -> 'argv') not between 1 and 1000
    or exists (select from jsonb_array_elements(command -> 'argv') w where jsonb_typeof(w) <> 'string')
    or command -> 'argv' ->> 0 = '' then
    perform weir._invalid(field || '.argv', 'expected a list of 1 to 1000 words',
      hint => 'for example {"argv": ["adb", "-s", "{target}", "reboot"], "timeout": "2m"}');
  end if;
  select k into bad from jsonb_object_keys(command) k where k not in ('argv', 'timeout') limit 1;
  if bad is not null then
    perform weir._invalid(field || '.' || bad, 'there is no such field', hint => 'use argv and timeout');
  end if;
  perform weir._fleet_span(jsonb_build_object(field || '.timeout', command -> 'timeout'), field || '.timeout',
    '5 min', '1 s', '1 h');
end $$;
comment on function weir._fleet_command is 'WR422 unless it is a command with a timeout.';
