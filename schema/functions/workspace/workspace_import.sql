-- Takes over one row of the earlier schema, with status, operation and desired_state (and of the one before, with the
-- statuses of transitions). What it was is not believed: the controller looks for itself. But a home that was is
-- remembered, so that nothing empty takes its place, and one that is in no archive is refused: nobody here can see its
-- volume. What was under way is not: the controller begins anew what is still wanted. archive_key and meta are those of
-- its archive in today's form, if it had one. owner: whose it is if owner_user_id is nobody here; provider: what runs
-- it if that is to be another. Returns what became of it:
-- imported, known (it is here already, nothing is changed) or skipped, with words.
create or replace function weir.workspace_import(earlier jsonb, archive_key text default null,
  archive_meta jsonb default null, owner uuid default null, provider text default null, by text default null,
  at timestamptz default null)
returns table (outcome text, says text)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_import.at);
  r jsonb := workspace_import.earlier;
  w weir.workspaces;
  was text := upper(r ->> 'status');
  -- What is wanted was not said in the schema before.
  wanted text := upper(coalesce(r ->> 'desired_state',
      case when r ? 'operation' or upper(r ->> 'status') in ('PENDING', 'STANDBY') then ''
        when upper(r ->> 'status') in ('STOPPED', 'STOPPING') then 'STANDBY' else 'RUNNING' end));
  rest text;
  kept boolean := workspace_import.archive_key is not null;
  notes text[] := '{}';
begin
  if coalesce(r ->> 'id', '') !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    perform weir._invalid('id', 'a row of workspaces has a UUID');
  end if;
  w.id := (r ->> 'id')::uuid;
  if was is null
    or was not in ('PENDING', 'STANDBY', 'RUNNING', 'ERROR', 'DELETED', 'CREATED', 'PROVISIONING', 'STOPPING',
      'STOPPED', 'DELETING') then
    perform weir._invalid('status',
      '%s is none of the earlier schema: PENDING, STANDBY, RUNNING, ERROR or DELETED; or, of the one before, CREATED, '
      'PROVISIONING, STOPPING, STOPPED or DELETING',
      jsonb_build_array(coalesce(quote_literal(was), 'nothing')));
  end if;
  if exists (select from weir.workspaces x where x.id = w.id) then
    return query select 'known', 'it is here already';
    return;
  end if;
  if was = 'DELETED' or r ->> 'deleted_at' is not null then
    return query select 'skipped', 'it was deleted';
    return;
  end if;
  select u.id into w.owner from weir.users u where u.id::text = r ->> 'owner_user_id';
  w.owner := coalesce(w.owner, workspace_import.owner);
  if w.owner is null then
    perform weir._invalid('owner_user_id', '%s is nobody here: say whose such workspaces are to be with --owner',
      jsonb_build_array(coalesce(quote_literal(r ->> 'owner_user_id'), 'nothing')));
  end if;
  if wanted not in ('PENDING', 'STANDBY', 'RUNNING') then
    perform weir._invalid('desired_state', '%s is none of the earlier schema: PENDING, STANDBY or RUNNING',
      jsonb_build_array(coalesce(quote_literal(r ->> 'desired_state'), 'nothing')));
  end if;

  -- Where it was at rest. Transitions were statuses once, and an error hides where it was.
  rest := case coalesce(case when was = 'ERROR' then upper(r ->> 'previous_status') end, was)
    when 'RUNNING' then 'volume' when 'STANDBY' then 'volume' when 'STOPPED' then 'volume' when 'STOPPING' then 'volume'
      when 'PROVISIONING' then 'volume' when 'DELETING' then 'volume'
    else case when r ->> 'archive_key' is not null then 'archive' when was = 'ERROR' then 'volume'
      else 'nothing' end end;
  if upper(r ->> 'operation') in ('PROVISIONING', 'RESTORING') and rest = 'nothing' then
    rest := 'volume'; -- there may be one already, and somebody may have begun to use it
  end if;
  w.had_home := rest <> 'nothing' or kept;
  -- An archive of something that had a volume after it is not the newest state of the home.
  w.volume_generation := case rest when 'volume' then 1 else 0 end;
  w.desired := case wanted when 'PENDING' then 'ARCHIVED' else wanted end;
  if was = 'DELETING' or upper(r ->> 'operation') = 'DELETING' then
    w.desired := 'DELETED';
  end if;
  if rest = 'volume' and not kept and w.desired <> 'DELETED' then
    perform weir._invalid('archive_key', 'its home was not in an archive: archive it there first, then import again');
  end if;
  if was = 'ERROR' then
    w.error_reason := 'RetryExceeded';
    w.error_message := weir._text(coalesce(r ->> 'error_message', 'it was in error before it came here'));
    w.error_count := greatest(coalesce((r ->> 'error_count')::int, 0), 1);
  end if;
  if w.desired = 'RUNNING' then
    begin
      perform weir._workspace_room(w.owner, w.id);
    exception when sqlstate 'WR429' then
      w.desired := 'STANDBY';
      notes := notes || format('it stands by, for as many run as may');
    end;
  end if;

  w.name := left(trim(both '-' from regexp_replace(lower(coalesce(r ->> 'name', '')), '[^a-z0-9]+', '-', 'g')), 31);
  w.name := coalesce(nullif(trim(both '-' from w.name), ''), 'workspace');
  if exists (select from weir.workspaces x where x.owner = w.owner and x.name = w.name and x.deleted_at is null) then
    w.name := w.name || '-' || right(w.id::text, 8);
  end if;
  if w.name is distinct from r ->> 'name' then
    notes := notes || format('its name is %s', w.name);
  end if;
  w.description := nullif(left(concat_ws(E'\n',
        case when w.name is distinct from r ->> 'name' then nullif(r ->> 'name', '') end,
        nullif(r ->> 'description', ''), nullif(r ->> 'memo', '')), 1000), '');
  w.provider := coalesce(workspace_import.provider,
    case r ->> 'instance_backend' when 'local-docker' then 'docker' else r ->> 'instance_backend' end, 'docker');
  w.created_at := coalesce(weir._earlier_time(r, 'created_at'), t);
  insert into weir.workspaces (id, owner, name, description, image, provider, created_at, desired, desired_by,
    desired_at, deleted_at, last_access_at, last_activity, standby_ttl, archive_ttl,
    phase, phase_changed_at, archive_op_id, archive_key, archive_meta, archive_generation, volume_generation, mounted,
    had_home, error_reason, error_message, error_count, home_ctx)
  values (w.id, w.owner, w.name, w.description,
    case when w.provider <> 'process' then nullif(left(r ->> 'image_ref', 512), '') end, w.provider, w.created_at,
    w.desired, workspace_import.by, t, case w.desired when 'DELETED' then t end,
    coalesce(weir._earlier_time(r, 'last_access_at'), weir._earlier_time(r, 'updated_at'), w.created_at), 'import',
    -- Those of the schema before have none: the policy's.
    case
      when r ->> 'standby_ttl_seconds' is not null then
        greatest((r ->> 'standby_ttl_seconds')::int * interval '1 s', interval '10 s') end,
    case
      when r ->> 'archive_ttl_seconds' is not null then
        greatest((r ->> 'archive_ttl_seconds')::int * interval '1 s', interval '10 s') end,
    case when w.error_reason is not null then 'ERROR' else 'PENDING' end, t,
    case when kept then nullif(split_part(workspace_import.archive_key, '/', 3), '')::uuid end,
    workspace_import.archive_key, workspace_import.archive_meta, 0, w.volume_generation, 0, w.had_home, w.error_reason,
    w.error_message, coalesce(w.error_count, 0), nullif(r -> 'home_ctx', 'null'));
  if kept then
    insert into weir.workspace_archives as a (key, workspace, verified_at, meta)
    values (workspace_import.archive_key, w.id, t, workspace_import.archive_meta)
    on conflict (key) do update set verified_at = excluded.verified_at, meta = excluded.meta, orphan_since = null;
  end if;
  if upper(coalesce(r ->> 'operation', 'NONE')) not in ('NONE', 'DELETING') then
    notes := notes || format('%s was under way and begins anew if it is still wanted', upper(r ->> 'operation'));
  end if;
  if rest = 'volume' and w.desired <> 'DELETED' then
    notes := notes
      || 'its home was in a volume after it was archived, so it is in error, and nothing takes its place: archive it '
        'there and import it then, or recover it from the archive'::text;
  end if;
  insert into weir.events (at, type, kind, subject, source, message, data)
  values (t, 'imported', 'workspace', w.id, workspace_import.by, array_to_string(notes, '; '),
    jsonb_strip_nulls(jsonb_build_object('status', was, 'operation', r ->> 'operation',
        'desired_state', r ->> 'desired_state', 'archive_key', r ->> 'archive_key')));
  perform pg_notify('weir_workspace', w.id::text);
  return query select 'imported', array_to_string(notes, '; ');
end $$;
comment on function weir.workspace_import is 'Takes over one row of the earlier schema of workspaces.';
