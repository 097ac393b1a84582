-- Notes which providers could not be seen, or that the bucket could not, and why; none: everything can be again. What
-- was seen before stands meanwhile, and time does not run out for what was under way: it begins to run again with the
-- next look. Returns whether that is new.
create or replace function weir.workspace_unknown(of_what text[] default '{}', why text default null,
  at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workspace_unknown.at);
  was text[];
  back text[];
begin
  select p.unknown_of into was from weir.workspace_policy p;
  if was = of_what then
    return false;
  end if;
  back := array(select x from unnest(was) x where x <> all (of_what));
  with held as (
    select w.id from weir.workspaces w
    where w.operation <> 'NONE' and (w.provider = any (back) or 'bucket' = any (back)) order by w.id for no key update
  )
  update weir.workspaces w set op_progress_at = t from held h where w.id = h.id;
  update weir.workspace_policy p
  set unknown_of = of_what, unknown = case when cardinality(of_what) > 0 then weir._text(why) end,
    unknown_at = case when cardinality(of_what) > 0 then coalesce(p.unknown_at, t) end;
  insert into weir.events (at, type, kind, subject, level, message, data)
  values (t, case when cardinality(of_what) = 0 then 'seen' else 'unknown' end, 'workspaces', 'all',
    case when cardinality(of_what) > 0 then 'error' end, weir._text(why),
    jsonb_build_object('unknown', of_what, 'was', was));
  return true;
end $$;
comment on function weir.workspace_unknown is 'Notes that not everything about workspaces could be seen.';
