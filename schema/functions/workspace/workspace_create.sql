-- Makes a workspace. What is wanted of it comes about by the controller. The same idempotency key again returns the
-- same workspace.
create or replace function weir.workspace_create(owner uuid, name text, provider text, image text default null,
  description text default null, desired text default 'RUNNING', standby_ttl interval default null,
  archive_ttl interval default null, by text default null, idempotency_key text default null,
  at timestamptz default null)
returns uuid
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_create.at);
  made uuid := weir._id(t);
  was uuid;
  once text;
begin
  if coalesce(workspace_create.name, '') !~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$' then
    perform weir._invalid('name', '1 to 40 small letters, digits and hyphens, with a letter or digit at both ends');
  end if;
  if workspace_create.desired is null or workspace_create.desired not in ('ARCHIVED', 'STANDBY', 'RUNNING') then
    perform weir._invalid('desired', 'ARCHIVED, STANDBY or RUNNING');
  end if;
  if least(workspace_create.standby_ttl, workspace_create.archive_ttl) < interval '10 s' then
    perform weir._invalid('ttl', '10 s is the shortest');
  end if;
  perform weir._check(weir._bad_span('standby_ttl', workspace_create.standby_ttl),
    weir._bad_span('archive_ttl', workspace_create.archive_ttl));
  if length(workspace_create.idempotency_key) > 200 then
    perform weir._invalid('idempotency_key', 'at most 200 characters');
  end if;
  if not exists (select from weir.users u where u.id = workspace_create.owner and u.disabled_at is null) then
    perform weir._invalid('owner', 'there is no such user, or they may not log in any more');
  end if;
  if coalesce(workspace_create.provider, '') !~ '^[a-z0-9][a-z0-9-]{0,38}$' then
    perform weir._invalid('provider', 'say what runs it, such as docker or process');
  end if;
  if length(workspace_create.description) > 1000 or length(workspace_create.image) > 512 then
    perform weir._invalid('description', 'at most 1000 characters; image: at most 512');
  end if;
  if workspace_create.provider = 'process' and workspace_create.image <> '' then
    perform weir._invalid('image', 'process runs only the built-in workspace',
      hint => 'leave it out, or choose docker');
  end if;
  if workspace_create.idempotency_key is not null then
    -- Keys of jobs are other keys, and so are those of other people.
    once := format('workspace/%s/%s', workspace_create.owner, workspace_create.idempotency_key);
    was := weir._take_key(once, made,
      jsonb_build_object('name', workspace_create.name, 'provider', workspace_create.provider,
        'image', workspace_create.image,
      'description', workspace_create.description, 'desired', workspace_create.desired,
      'standby_ttl', workspace_create.standby_ttl, 'archive_ttl', workspace_create.archive_ttl));
    if was <> made then
      return was;
    end if;
  end if;
  if workspace_create.desired = 'RUNNING' then
    perform weir._workspace_room(workspace_create.owner, null);
  end if;
  insert into weir.workspaces as w (id, owner, name, description, image, provider, created_at, desired, desired_by,
    desired_at, last_access_at, last_activity, standby_ttl, archive_ttl, phase_changed_at)
  values (made, workspace_create.owner, workspace_create.name, weir._text(workspace_create.description),
    nullif(workspace_create.image, ''), workspace_create.provider, t, workspace_create.desired,
    workspace_create.by, t, t, 'create', workspace_create.standby_ttl, workspace_create.archive_ttl, t);
  insert into weir.events (at, type, kind, subject, source, message, data)
  values (t, 'created', 'workspace', made, workspace_create.by, workspace_create.name,
    jsonb_build_object('owner', workspace_create.owner, 'provider', workspace_create.provider,
      'desired', workspace_create.desired));
  perform pg_notify('weir_workspace', made::text);
  return made;
exception
  when unique_violation then
    perform weir._conflict('there is a workspace %L already', jsonb_build_array(workspace_create.name),
      hint => 'choose another name, or delete that one first',
      field => 'name');
end $$;
comment on function weir.workspace_create is 'Makes a workspace and returns its id.';
