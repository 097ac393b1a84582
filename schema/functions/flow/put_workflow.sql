-- Stores a definition. A version is never changed: the same content again is fine, another content of the same version
-- is refused. Without a version it gets the next free one, unless the newest says the same already. The number of a
-- deleted version is not free. What a definition may say is checked by whoever made it:
-- here it is opaque.
create or replace function weir.put_workflow(name text, definition jsonb, version int default null,
  source text default null, active boolean default true, by text default null, at timestamptz default null, out id uuid,
  out stored int, out created boolean)
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(put_workflow.at);
  was weir.workflows;
begin
  if coalesce(put_workflow.name, '') = '' or length(put_workflow.name) > 200 then
    perform weir._invalid('name', '1 to 200 characters');
  end if;
  perform weir._check(weir._bad_text('by', put_workflow.by, 500),
    weir._bad_text('source', put_workflow.source, 16 * 1024 * 1024));
  if put_workflow.version < 1 then
    perform weir._invalid('version', '%s is not positive', jsonb_build_array(put_workflow.version));
  end if;
  if jsonb_typeof(put_workflow.definition) is distinct from 'object' then
    perform weir._invalid('definition', 'expected a JSON object, got %s',
      jsonb_build_array(coalesce(jsonb_typeof(put_workflow.definition), 'null')));
  end if;
  -- Two that put the same workflow come one after the other.
  perform pg_advisory_xact_lock(96, hashtext(put_workflow.name));
  created := false;
  select w.* into was from weir.workflows w
  where w.name = put_workflow.name
    and (put_workflow.version is null and w.deleted_at is null or w.version = put_workflow.version)
  order by w.version desc limit 1;
  if was.deleted_at is not null then
    perform weir._conflict('version %s of workflow %L was deleted',
      jsonb_build_array(put_workflow.version, put_workflow.name),
      hint => 'a number is used once: give it a higher version, or none');
  end if;
  if was.id is not null and was.definition - 'version' - 'name' = put_workflow.definition - 'version' - 'name' then
    id := was.id; stored := was.version;
    if put_workflow.active and not was.active then
      perform weir.set_workflow(was.name, was.version, true, put_workflow.by, at => put_workflow.at);
    end if;
    return;
  end if;
  if was.id is not null and put_workflow.version is not null then
    perform weir._conflict('version %s of workflow %L has another content',
      jsonb_build_array(put_workflow.version, put_workflow.name),
      hint => 'a version is never changed: give it a higher version, or none');
  end if;
  stored := coalesce(put_workflow.version,
    (select max(w.version) from weir.workflows w where w.name = put_workflow.name) + 1, 1);
  id := weir._id(t);
  created := true;
  insert into weir.workflows (id, name, version, active, definition, source, by, created_at, updated_at)
  values (id, put_workflow.name, stored, coalesce(put_workflow.active, true),
    put_workflow.definition || jsonb_build_object('name', put_workflow.name, 'version', stored),
    put_workflow.source, put_workflow.by, t, t);
  insert into weir.events (at, type, kind, subject, source, message)
  values (t, 'set', 'workflow', put_workflow.name, put_workflow.by, 'version ' || stored);
end $$;
comment on function weir.put_workflow is
  'Stores a version of a workflow and returns its id, its version and whether it is new.';
