-- Changes what holds for all workspaces: an object with per_user, in_all, standby_ttl, archive_ttl, max_life and
-- busy_most. What it does not name stays; max_life null means for ever.
-- Returns all of it.
create or replace function weir.set_workspace_policy(change jsonb, by text default null, at timestamptz default null)
returns jsonb
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_workspace_policy.at);
  bad text;
  was weir.workspace_policy;
  has weir.workspace_policy;
begin
  if jsonb_typeof(change) is distinct from 'object' then
    perform weir._invalid('policy',
      'expected an object with per_user, in_all, standby_ttl, archive_ttl, max_life or busy_most');
  end if;
  select k into bad from jsonb_object_keys(change) k
  where k not in ('per_user', 'in_all', 'standby_ttl', 'archive_ttl', 'max_life', 'busy_most') limit 1;
  if bad is not null then
    perform weir._invalid(bad, 'there is no such field',
      hint => 'use per_user, in_all, standby_ttl, archive_ttl, max_life or busy_most');
  end if;
  select k into bad from jsonb_each(change) c (k, v)
  where k in ('per_user', 'in_all') and jsonb_typeof(v) <> 'number'
    or k in ('standby_ttl', 'archive_ttl', 'busy_most') and jsonb_typeof(v) = 'null' limit 1;
  if bad is not null then
    perform weir._invalid(bad, 'a number, or for a time one such as 10m');
  end if;
  select * into was from weir.workspace_policy for update;
  has := was;
  has.per_user := coalesce((change ->> 'per_user')::int, was.per_user);
  has.in_all := coalesce((change ->> 'in_all')::int, was.in_all);
  has.standby_ttl := coalesce((change ->> 'standby_ttl')::interval, was.standby_ttl);
  has.archive_ttl := coalesce((change ->> 'archive_ttl')::interval, was.archive_ttl);
  has.max_life := case when change ? 'max_life' then (change ->> 'max_life')::interval else was.max_life end;
  has.busy_most := coalesce((change ->> 'busy_most')::interval, was.busy_most);
  if has.per_user not between 0 and 10000 then
    perform weir._invalid('per_user', '%s is not 0 to 10000', jsonb_build_array(has.per_user));
  end if;
  if has.in_all not between 0 and 100000 then
    perform weir._invalid('in_all', '%s is not 0 to 100000', jsonb_build_array(has.in_all));
  end if;
  select k into bad
  from (values ('standby_ttl', has.standby_ttl, interval '10 s'), ('archive_ttl', has.archive_ttl, interval '10 s'),
    ('max_life', has.max_life, interval '1 min'), ('busy_most', has.busy_most, interval '0 s')) v (k, is_, least_)
  where v.is_ < v.least_ limit 1;
  if bad is not null then
    perform weir._invalid(bad, 'that is too short',
      hint => 'standby_ttl and archive_ttl are 10s or more, max_life is 1m or more');
  end if;
  perform weir._check(weir._bad_span('standby_ttl', has.standby_ttl), weir._bad_span('archive_ttl', has.archive_ttl),
    weir._bad_span('max_life', has.max_life), weir._bad_span('busy_most', has.busy_most, true));
  if was is distinct from has then
    update weir.workspace_policy p
    set per_user = has.per_user, in_all = has.in_all, standby_ttl = has.standby_ttl, archive_ttl = has.archive_ttl,
      max_life = has.max_life, busy_most = has.busy_most;
    insert into weir.events (at, type, kind, subject, source, data)
    values (t, 'set', 'workspaces', 'policy', set_workspace_policy.by, change);
  end if;
  return to_jsonb(has) - 'one' - 'starts' - 'install';
end $$;
comment on function weir.set_workspace_policy is 'Changes the policy of workspaces and returns it.';
