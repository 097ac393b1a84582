-- Writes to flow.workflows. An insert stores a version: what makes a workflow one (keys, needs, no ring) is checked at
-- once, the rest when a job of it is built.
-- The same row again is fine, so that a scheduler may insert what it needs at every start.
create or replace function weir._flow_workflow() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
declare
  steps jsonb;
  bad text;
  was weir.workflows;
  put record;
begin
  if tg_op = 'DELETE' then
    perform weir._invalid(null, 'delete of flow.workflows: jobs are pinned to their version, so it stays',
      hint => 'to start no more jobs of it: select weir.set_workflow(name, version, active => false); to have it out '
        'of sight: select weir.drop_workflow(name, version)');
  end if;
  if tg_op = 'UPDATE' then
    if (new.id, new.name, new.version, new.steps) is distinct from (old.id, old.name, old.version, old.steps) then
      perform weir._invalid(null, 'update of flow.workflows: a version is never changed',
        hint => 'insert another version, or use weir.put_workflow');
    end if;
    if new.is_active is distinct from old.is_active then
      perform weir.set_workflow(old.name, old.version, new.is_active, session_user::text);
    end if;
    return new;
  end if;
  if jsonb_typeof(new.steps) is distinct from 'array' or jsonb_array_length(new.steps) = 0 then
    perform weir._invalid('steps', 'expected a JSON array of steps',
      hint => 'for example [{"key": "ingest", "service": "ingest", "depends_on": []}]');
  end if;
  select jsonb_typeof(s) into bad from jsonb_array_elements(new.steps) s where jsonb_typeof(s) <> 'object' limit 1;
  if found then
    perform weir._invalid('steps', 'expected objects, got %s', jsonb_build_array(bad));
  end if;
  -- In Weir's words: the definition is read by everything else.
  select jsonb_agg(s.value - 'depends_on' - 'default_params'
    || case
      when s.value ? 'depends_on'
        and jsonb_typeof(s.value -> 'depends_on') <> 'null' then jsonb_build_object('needs', s.value -> 'depends_on')
      else '{}' end
    || case
      when s.value ? 'default_params'
        and jsonb_typeof(s.value -> 'default_params') <> 'null' then
          jsonb_build_object('params', s.value -> 'default_params')
      else '{}' end
    order by s.ordinality)
  into steps from jsonb_array_elements(new.steps) with ordinality s;
  select coalesce(s.value ->> 'key', format('number %s', s.ordinality)) into bad
  from jsonb_array_elements(steps) with ordinality s
  where coalesce(s.value ->> 'key', '') = ''
    or coalesce(s.value ->> 'service', s.value ->> 'workflow', s.value ->> 'run', '') = ''
  order by s.ordinality limit 1;
  if found then
    perform weir._invalid('steps', 'step %s needs a key and a service', jsonb_build_array(bad),
      hint => 'a step with run or workflow needs no service');
  end if;
  perform weir._check_needs(weir._parse((select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('key', s ->> 'key',
              'service', coalesce(s ->> 'service', 'workflow'), 'needs', s -> 'needs')))
    from jsonb_array_elements(steps) s)));
  if new.id is not null then
    select * into was from weir.workflows w where w.id = new.id;
    if found and (was.name <> new.name or was.version <> new.version) then
      perform weir._conflict('%s is version %s of workflow %s', jsonb_build_array(was.id, was.version, was.name),
        hint => 'leave id out; RETURNING id tells it',
        field => 'id');
    end if;
  end if;
  select * into put
  from weir.put_workflow(new.name, jsonb_build_object('name', new.name, 'steps', steps), version => new.version,
    active => coalesce(new.is_active, true), by => session_user::text);
  if put.created and new.id is not null then
    update weir.workflows w set id = new.id where w.id = put.id;
    put.id := new.id;
  end if;
  select w.id, w.version, w.active, w.created_at, w.updated_at
  into new.id, new.version, new.is_active, new.created_at, new.updated_at from weir.workflows w where w.id = put.id;
  return new;
end $$;
comment on function weir._flow_workflow is 'Stores a workflow that was inserted into flow.workflows.';
