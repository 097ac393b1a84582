-- A person has seen to what was wrong: the error is cleared, and the controller looks again. What is lost needs more:
-- archive brings back that one, whatever came after it; fresh gives up what was lost since the last archive that is
-- there. Both say that a volume that turns up again is not the home. If there is no archive to come back from either,
-- fresh takes whatever volume there is, however old it is, before it takes an empty one. Returns whether there was
-- anything to recover from.
create or replace function weir.workspace_recover(workspace uuid, by text default null, fresh boolean default false,
  archive text default null, reason text default null, at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_recover.at);
  w weir.workspaces;
  a weir.workspace_archives;
  nothing boolean; -- there is no archive to come back from
  left_over boolean;
begin
  select * into w from weir.workspaces x where x.id = workspace_recover.workspace and x.deleted_at is null
  for no key update;
  if not found then
    perform weir._not_found('workspace', workspace_recover.workspace::text);
  end if;
  if w.phase <> 'ERROR' and w.error_reason is null then
    if fresh or archive is not null then
      perform weir._conflict('it has no error', hint => 'nothing of its home is lost: leave it as it is');
    end if;
    return false;
  end if;
  if (fresh or archive is not null) and w.operation <> 'NONE' then
    perform weir._conflict('%s is under way, and may yet succeed', jsonb_build_array(w.operation),
      hint => 'try again when that is done');
  end if;
  if (fresh or archive is not null)
    and coalesce((w.conditions -> 'storage.volume_ready' ->> 'status')::boolean, false) then
    perform weir._conflict('its home is there, and nothing of it is lost: %s',
      jsonb_build_array(concat_ws(', ', w.error_reason, w.error_message)), hint => 'recover it as it is');
  end if;
  if archive is not null then
    -- From here on the collector keeps it.
    update weir.workspace_archives x set orphan_since = null
    where x.key = archive and x.workspace = w.id and x.verified_at is not null returning * into a;
    if not found then
      perform weir._invalid('archive', 'there is no such archive of it',
        hint => 'see what there is', command => 'weir workspace show ' || w.name);
    end if;
  end if;
  nothing := fresh and a.key is null
    and (w.error_reason is not distinct from 'ArchiveCorrupted'
      or not coalesce((w.conditions -> 'storage.archive_ready' ->> 'status')::boolean, false));
  left_over := nothing and coalesce(w.conditions -> 'storage.volume_ready' ->> 'reason' = 'Leftover', false);
  update weir.workspaces x
  set error_reason = null, error_message = null, error_count = 0, generation = x.generation + 1, had_home = x.had_home
    and (left_over or not nothing),
    archive_key = case when a.key is not null then a.key when nothing and w.error_reason = 'ArchiveCorrupted' then null
      else x.archive_key end,
    archive_meta = case when a.key is not null then a.meta
      when nothing and w.error_reason = 'ArchiveCorrupted' then null else x.archive_meta end,
    -- What comes now is later than all that anybody has begun.
    volume_generation = x.volume_generation + case when fresh or a.key is not null then 1 else 0 end,
    archive_generation = case when nothing then 0 when fresh or a.key is not null then x.volume_generation + 1
      else x.archive_generation end,
    archive_of = case when not fresh and a.key is null then x.archive_of end,
    mounted = case when left_over then 0 else x.mounted end
  where x.id = w.id;
  insert into weir.events (at, type, kind, subject, source, message, data)
  values (t, 'recovered', 'workspace', w.id, workspace_recover.by,
    weir._text(concat_ws(': ',
        case when a.key is not null then 'its home is brought back from ' || a.key
          when fresh then 'what was in its home since the last archive is given up' end, workspace_recover.reason)),
    jsonb_strip_nulls(jsonb_build_object('was', w.error_reason, 'fresh', nullif(fresh, false), 'archive', a.key)));
  perform pg_notify('weir_workspace', w.id::text);
  return true;
end $$;
comment on function weir.workspace_recover is 'Clears the error of a workspace.';
