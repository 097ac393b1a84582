-- Workspaces: limits, operations, homes and archives agree with one another.
create or replace function weir._doctor_workspaces(t timestamptz)
returns table (name text, ok boolean, level text, detail text)
language plpgsql stable
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query select * from weir._doctor('no more workspaces run than may', array(
    select case when x.owner is null then format('%s run, and %s may', x.n, p.in_all)
      else format('%s of %s run, and %s may', x.n, coalesce(u.name, x.owner::text), p.per_user) end
    from weir.workspace_policy p, (select w.owner, count(*) as n, max(w.desired_at) as newest from weir.workspaces w
      where w.deleted_at is null and (w.phase = 'RUNNING' or w.desired = 'RUNNING')
      group by grouping sets ((w.owner), ())) x
      left join weir.users u on u.id = x.owner
    where x.n > case when x.owner is null then p.in_all else p.per_user end
      -- Who lowers a limit lets run what runs.
      and not exists (select from weir.events e
        where e.kind = 'workspaces' and e.subject = 'policy' and e.at >= x.newest)));

  return query select * from weir._doctor('an operation of a workspace has begun, and only then gets on', array(
    select format('%s of %s: began %s, got on %s', w.operation, w.id, w.op_started_at, w.op_progress_at)
    from weir.workspaces w
    where (w.operation <> 'NONE') <> (w.op_started_at is not null)
      or (w.operation <> 'NONE') <> (w.op_progress_at is not null)));

  return query select * from weir._doctor('nothing goes on in a workspace with an error that stands', array(
    select format('%s: %s stands, and %s goes on', w.id, w.error_reason, w.operation) from weir.workspaces w
    where w.operation <> 'NONE'
      and w.error_reason in ('Timeout', 'RetryExceeded', 'DataLost', 'ImagePullFailed', 'ContainerWithoutVolume',
        'ArchiveCorrupted')));

  return query select * from weir._doctor('the archive of a workspace is verified and kept', array(
    select format('%s: %s is %s', w.id, w.archive_key,
      case when a.key is null then 'not known' when a.verified_at is null then 'not verified'
        else 'an orphan since ' || a.orphan_since end)
    from weir.workspaces w left join weir.workspace_archives a on a.key = w.archive_key and a.workspace = w.id
    where w.archive_key is not null and w.phase <> 'DELETED'
      and (a.verified_at is null or a.orphan_since is not null)));

  return query select * from weir._doctor('a workspace counts starts and archives forward', array(
    select format('%s: %s counted, %s on the volume, %s in the archive', w.id, w.volume_generation, w.mounted,
      w.archive_generation)
    from weir.workspaces w
    where w.mounted > w.volume_generation or w.archive_generation > w.volume_generation
      or w.observed_generation > w.generation));

  return query select * from weir._doctor('a home that was seen is remembered', array(
    select format('%s has a volume, and is thought to have had none', w.id) from weir.workspaces w
    where not w.had_home and (w.conditions -> 'storage.volume_ready' ->> 'status')::boolean));

  return query select * from weir._doctor('everything of workspaces can be seen', array(
    select format('%s cannot be seen since %s: %s', array_to_string(p.unknown_of, ', '), p.unknown_at, p.unknown)
    from weir.workspace_policy p where p.unknown_at is not null), 'health');

  return query select * from weir._doctor('workspaces get to where they are wanted', array(
    select format('%s is %s, and was to be %s since %s: no server leads, or none has the provider %s', w.id, w.phase,
      w.desired, w.desired_at, w.provider)
    from weir.workspaces w
    where w.operation = 'NONE' and w.phase not in ('ERROR', w.desired)
      and greatest(w.desired_at, w.phase_changed_at) < t - interval '5 min'), 'health');
end $$;
comment on function weir._doctor_workspaces is 'Invariants of workspaces.';
