-- How a node is woken when it sleeps, and after how long with nothing to do it may go to sleep. method null: not at
-- all. What params hold depends on the method:
-- wol {"mac", "broadcast", "interface"}, http {"url"}, script {"script", "args"}, and all of them {"timeout"}: seconds
-- until a try has failed.
-- They are data and never a command: which scripts and addresses there are, the operator of the server says, and the
-- server looks again before it acts.
create or replace function weir.set_wake(name text, method text default null, params jsonb default '{}',
  sleep_after interval default null, by text default null, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_wake.at);
  fields text[] := case set_wake.method when 'wol' then '{mac,broadcast,interface,timeout}'
    when 'http' then '{url,timeout}' when 'script' then '{script,args,timeout}' else '{}' end;
  bad text;
begin
  perform weir._check(weir._bad_text('by', set_wake.by, 500));
  if set_wake.method not in ('wol', 'http', 'script') then
    perform weir._invalid('method', '%L is not wol, http or script', jsonb_build_array(set_wake.method));
  end if;
  if jsonb_typeof(set_wake.params) is distinct from 'object' or pg_column_size(set_wake.params) > 16384 then
    perform weir._invalid('params', 'expected an object of at most 16 KiB');
  end if;
  select k into bad from jsonb_object_keys(set_wake.params) k where k <> all (fields) order by 1 limit 1;
  if found then
    perform weir._invalid('params.' || bad, 'there is no such field',
      hint => case when set_wake.method is null then 'give a method'
        else format('the fields of %s are %s', set_wake.method, array_to_string(fields, ', ')) end);
  end if;
  if set_wake.method = 'wol' and coalesce(set_wake.params ->> 'mac', '') !~* '^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$' then
    perform weir._invalid('params.mac', 'expected six bytes, for example 52:54:00:12:34:56');
  elsif set_wake.method = 'http'
    and (coalesce(set_wake.params ->> 'url', '') !~ '^https?://' or length(set_wake.params ->> 'url') > 2000) then
    perform weir._invalid('params.url', 'expected an address that begins with http:// or https://');
  elsif set_wake.method = 'script'
    and coalesce(set_wake.params ->> 'script', '') !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' then
    perform weir._invalid('params.script', 'expected the name of a file in the server''s folder of wake scripts',
      hint => 'letters, digits, dot, dash and underscore: a name, not a path or a command');
  elsif set_wake.params ? 'args'
    and (jsonb_typeof(set_wake.params -> 'args') <> 'array' or jsonb_array_length(set_wake.params -> 'args') > 16
    or exists (select from jsonb_array_elements(set_wake.params -> 'args') a
      where jsonb_typeof(a) <> 'string' or a #>> '{}' !~ '^[A-Za-z0-9_][A-Za-z0-9_.:@/=+-]{0,199}$'))
  then
    perform weir._invalid('params.args',
      'expected at most 16 words of letters, digits and _.:@/=+-, none of which begins with a dash');
  elsif set_wake.params ? 'timeout'
    and not coalesce(jsonb_typeof(set_wake.params -> 'timeout') = 'number'
      and (set_wake.params ->> 'timeout')::numeric between 5 and 3600, false) then
    perform weir._invalid('params.timeout', 'expected a number of seconds from 5 to 3600');
  elsif exists (select from jsonb_each(set_wake.params) p
    where p.key in ('broadcast', 'interface')
      and (jsonb_typeof(p.value) <> 'string' or length(p.value #>> '{}') > 100)) then
    perform weir._invalid('params', 'broadcast and interface are text');
  elsif set_wake.sleep_after not between interval '1 min' and interval '30 days' then
    perform weir._invalid('sleep_after', 'from a minute to 30 days');
  elsif set_wake.sleep_after is not null and set_wake.method is null then
    perform weir._invalid('sleep_after', 'nobody could wake it again', hint => 'give a method');
  end if;
  update weir.nodes n
  set wake_method = set_wake.method, wake = case when set_wake.method is not null then set_wake.params end,
    sleep_after = set_wake.sleep_after, busy_at = t,
    wake_tries = 0, wake_note = null,
    wake_state = case when set_wake.method is null then 'unknown' else n.wake_state end
  where n.name = set_wake.name;
  if not found then
    perform weir._not_found('node', set_wake.name, hint => 'a node is known once its agent has registered it');
  end if;
  insert into weir.events (at, type, kind, subject, source, message, data)
  values (t, 'wake_set', 'node', set_wake.name, set_wake.by, coalesce(set_wake.method, 'none'),
    jsonb_strip_nulls(jsonb_build_object('params', set_wake.params, 'sleep_after', set_wake.sleep_after)));
end $$;
comment on function weir.set_wake is 'Says how a node is woken, and after how long with nothing to do it may sleep.';
