-- Writes what a look at everything has shown of the workspaces that changed. rows: id, conditions, phase, mounted (the
-- number on the volume; null: there is none), generation (what was wanted when it was judged). One write for all, none
-- for those that are the same. If somebody has mounted a volume that was thought to be archived, the archive is void,
-- and an operation that goes on from it ends: the volume is the home. Returns how many changed.
create or replace function weir.workspace_see(rows jsonb, at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_see.at);
  n int;
begin
  with seen as (
    select x.id, x.conditions, x.phase, x.mounted, x.generation
    from jsonb_to_recordset(workspace_see.rows) as x (id uuid, conditions jsonb, phase text, mounted bigint,
      generation bigint)
  ), old as (
    select w.id, w.phase, w.operation, w.op_id, weir._workspace_conditions(w.conditions, s.conditions, t) as conditions,
      s.phase as becomes, greatest(w.mounted, s.mounted) as mounted,
      greatest(w.observed_generation, s.generation) as generation,
      coalesce(s.mounted > w.mounted and w.operation = 'ARCHIVING', false) as void,
      coalesce(s.mounted > w.mounted and s.mounted < w.archive_generation, false) as older,
      (w.phase, w.conditions) is distinct from (s.phase,
        weir._workspace_conditions(w.conditions, s.conditions, t)) as news
    from weir.workspaces w join seen s on s.id = w.id order by w.id for no key update of w
  ), moved as (
    update weir.workspaces w
    set conditions = o.conditions, observed_at = t, observed_generation = o.generation, phase = o.becomes,
      phase_changed_at = case when w.phase = o.becomes then w.phase_changed_at else t end,
      had_home = w.had_home or coalesce((o.conditions -> 'storage.volume_ready' ->> 'status')::boolean, false),
      mounted = o.mounted, volume_generation = greatest(w.volume_generation, o.mounted),
      archive_generation = case when o.older then o.mounted - 1 else w.archive_generation end,
      operation = case when o.void then 'NONE' else w.operation end, op_id = case when not o.void then w.op_id end,
      op_started_at = case when not o.void then w.op_started_at end,
      op_progress_at = case when o.void or w.operation = 'NONE' then null when o.news then t else w.op_progress_at end,
      op_progress = case when not o.void then w.op_progress end,
      op_retry_at = case when not o.void then w.op_retry_at end
    from old o where o.id = w.id and (o.news or o.mounted <> w.mounted or o.generation <> w.observed_generation)
    returning w.id, o.phase as was, w.phase, w.error_reason, o.void, o.operation, o.op_id, w.mounted
  ), told as (
    insert into weir.events (at, type, kind, subject, level, message, data)
    select t, 'phase', 'workspace', m.id, case m.phase when 'ERROR' then 'error' end, m.phase,
      jsonb_strip_nulls(jsonb_build_object('was', m.was, 'phase', m.phase, 'reason', m.error_reason))
    from moved m where m.was <> m.phase
    union all
    select t, 'void', 'workspace', m.id, 'warn', 'the volume was mounted while it was archived: it is archived again',
      jsonb_build_object('operation', m.operation, 'op_id', m.op_id, 'mounted', m.mounted)
    from moved m where m.void
  )
  select count(*) into n from moved;
  return n;
end $$;
comment on function weir.workspace_see is 'Writes what was seen of workspaces.';
