-- Whether one more workspace of the user may run. Counts in the row of the policy first, so that starts follow one
-- another: nobody is over a limit, not even by one. Raises WR429 with what runs of theirs in its detail.
create or replace function weir._workspace_room(of_user uuid, except_for uuid) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  p weir.workspace_policy;
  mine int;
  every int;
  own boolean;
begin
  -- A write and not a lock: whoever reads an older snapshot fails instead of counting in it.
  update weir.workspace_policy x set starts = x.starts + 1 returning * into p;
  select count(*) filter (where w.owner = of_user), count(*) into mine, every from weir.workspaces w
  where w.deleted_at is null and (w.phase = 'RUNNING' or w.desired = 'RUNNING') and w.id is distinct from except_for;
  if mine < p.per_user and every < p.in_all then
    return;
  end if;
  own := mine >= p.per_user;
  perform weir._raise('WR429', null,
    case when own then '%s of your workspaces run, and no more than %s may'
      else '%s workspaces run here, and no more than %s may' end,
    jsonb_build_array(case when own then mine else every end, case when own then p.per_user else p.in_all end),
    hint => case when own or mine > 0 then 'stop one first'
      else 'try again when one has stopped, or ask who runs this Weir for more' end,
    data => jsonb_build_object('limit_type', case when own then 'user' else 'all' end,
      'current', case when own then mine else every end, 'max', case when own then p.per_user else p.in_all end,
      'running', (
        select coalesce(
          jsonb_agg(jsonb_build_object('id', w.id, 'name', w.name, 'phase', w.phase) order by w.name), '[]')
        from weir.workspaces w
        where w.owner = of_user and w.deleted_at is null and (w.phase = 'RUNNING' or w.desired = 'RUNNING')
          and w.id is distinct from except_for)));
end $$;
comment on function weir._workspace_room is 'Refuses a start over a limit.';
