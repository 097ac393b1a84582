-- Changes what a workspace is called, what it runs and how long it lasts unused: an object with name, description,
-- image, standby_ttl and archive_ttl. What it does not name stays; a ttl of null is that of the policy, an image of ''
-- the built-in one. Another image holds from the next start on, also of one in error: so a wrong one can be mended.
-- Returns whether anything is different.
create or replace function weir.workspace_patch(workspace uuid, change jsonb, by text default null,
  at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_patch.at);
  bad text;
  was weir.workspaces;
  has weir.workspaces;
begin
  if jsonb_typeof(change) is distinct from 'object' then
    perform weir._invalid('change', 'expected an object with name, description, image, standby_ttl or archive_ttl');
  end if;
  select k into bad from jsonb_object_keys(change) k
  where k not in ('name', 'description', 'image', 'standby_ttl', 'archive_ttl') limit 1;
  if bad is not null then
    perform weir._invalid(bad, 'there is no such field',
      hint => 'use name, description, image, standby_ttl or archive_ttl');
  end if;
  if change ? 'name' and coalesce(change ->> 'name', '') !~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$' then
    perform weir._invalid('name', '1 to 40 small letters, digits and hyphens, with a letter or digit at both ends');
  end if;
  if length(change ->> 'description') > 1000 then
    perform weir._invalid('description', 'at most 1000 characters');
  end if;
  if length(change ->> 'image') > 512 then
    perform weir._invalid('image', 'at most 512 characters');
  end if;
  select * into was from weir.workspaces x where x.id = workspace_patch.workspace and x.deleted_at is null
  for no key update;
  if not found then
    perform weir._not_found('workspace', workspace_patch.workspace::text);
  end if;
  if was.provider = 'process' and change ->> 'image' <> '' then
    perform weir._invalid('image', 'process runs only the built-in workspace', hint => 'leave it out');
  end if;
  has := was;
  has.name := coalesce(change ->> 'name', was.name);
  has.description := case when change ? 'description' then nullif(change ->> 'description', '')
    else was.description end;
  has.image := case when change ? 'image' then nullif(change ->> 'image', '') else was.image end;
  has.standby_ttl := case when change ? 'standby_ttl' then (change ->> 'standby_ttl')::interval
    else was.standby_ttl end;
  has.archive_ttl := case when change ? 'archive_ttl' then (change ->> 'archive_ttl')::interval
    else was.archive_ttl end;
  if least(has.standby_ttl, has.archive_ttl) < interval '10 s' then
    perform weir._invalid('ttl', '10 s is the shortest');
  end if;
  perform weir._check(weir._bad_span('standby_ttl', has.standby_ttl), weir._bad_span('archive_ttl', has.archive_ttl));
  if has is not distinct from was then
    return false;
  end if;
  update weir.workspaces x
  set name = has.name, description = has.description, image = has.image, standby_ttl = has.standby_ttl,
    archive_ttl = has.archive_ttl
  where x.id = was.id;
  insert into weir.events (at, type, kind, subject, source, data)
  values (t, 'changed', 'workspace', was.id, workspace_patch.by, change || jsonb_build_object('was', was.name));
  perform pg_notify('weir_workspace', was.id::text);
  return true;
exception
  when unique_violation then
    perform weir._conflict('there is a workspace %L already', jsonb_build_array(change ->> 'name'),
      hint => 'choose another name',
      field => 'name');
end $$;
comment on function weir.workspace_patch is 'Changes the name, the description, the image or the times of a workspace.';
