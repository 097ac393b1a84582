-- Wants less of workspaces that nobody uses: what runs without use stands by, what stands by long enough is archived.
-- What somebody uses right now is in alive and stays; alive null:
-- nobody could tell, so nothing is stopped for that. Only what rests is looked at, and only if nobody wants something
-- else of it. Returns how many.
create or replace function weir.workspace_expire(alive uuid[] default '{}', at timestamptz default null) returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_expire.at);
  p weir.workspace_policy;
  w record;
  n int := 0;
begin
  select * into p from weir.workspace_policy;
  for w in
    select x.id, x.desired, case when x.phase = 'RUNNING' then 'STANDBY' else 'ARCHIVED' end as want,
      case when x.phase = 'STANDBY' then format('it stood by for %s', date_trunc('second', t - x.phase_changed_at))
        when x.phase_changed_at < t - p.max_life then
          format('it ran for %s, which is as long as it may', date_trunc('second', t - x.phase_changed_at))
        else format('nobody used it for %s, last: %s', date_trunc('second', t - x.last_access_at),
          coalesce(x.last_activity, 'nothing')) end as reason
    from weir.workspaces x
    where x.deleted_at is null and x.operation = 'NONE' and x.desired = x.phase and (
      x.phase = 'RUNNING' and (x.phase_changed_at < t - p.max_life
        or x.id <> all (alive) and coalesce(x.busy_until, '-infinity') < t
          and x.last_access_at < t - coalesce(x.standby_ttl, p.standby_ttl))
      or x.phase = 'STANDBY' and x.phase_changed_at < t - coalesce(x.archive_ttl, p.archive_ttl))
    order by x.id for no key update skip locked
  loop
    perform weir.workspace_want(w.id, w.want, 'ttl', w.desired, w.reason, at => t);
    n := n + 1;
  end loop;
  return n;
end $$;
comment on function weir.workspace_expire is 'Wants less of workspaces that nobody uses.';
