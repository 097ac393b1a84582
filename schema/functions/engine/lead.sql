-- Takes or renews a leader's term. A term ends by the database clock; whoever takes it over gets the next epoch, and no
-- write of an older epoch is accepted (weir.fenced). Returns the epoch, or null while somebody else leads.
-- A server that leads after an absence first adds the absence to the leases that held before it: weir._add_absence.
create or replace function weir.lead(lock_name text, holder text, ttl interval default '15 s',
  at timestamptz default null)
returns bigint
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(lead.at);
  was weir.system_locks;
  now_epoch bigint;
  extended int;
begin
  perform weir._check(weir._bad_span('ttl', lead.ttl));
  select * into was from weir.system_locks l where l.lock_name = lead.lock_name;
  if found and was.holder_id <> holder and was.expires_at > t then
    return null;
  end if;
  if found and (was.holder_id <> holder or was.expires_at <= t) then
    -- Waits for what the old leader still writes (weir.fenced).
    perform from weir.system_locks l where l.lock_name = lead.lock_name for update;
  end if;
  insert into weir.system_locks as l (lock_name, holder_id, epoch, acquired_at, expires_at, seen_at)
  values (lead.lock_name, holder, 1, t, t + ttl, t)
  on conflict (lock_name) do update set holder_id = holder, expires_at = t + ttl, seen_at = t,
    epoch = case when l.holder_id = holder and l.expires_at > t then l.epoch else l.epoch + 1 end,
    acquired_at = case when l.holder_id = holder and l.expires_at > t then l.acquired_at else t end
  where l.holder_id = holder or l.expires_at <= t
  returning l.epoch into now_epoch;
  if now_epoch is distinct from was.epoch and now_epoch is not null then
    if lead.lock_name = 'coordinator' then
      extended := weir._add_absence(was.seen_at, t);
    end if;
    insert into weir.events (at, type, kind, subject, source, data)
    values (t, 'leads', 'lock', lead.lock_name, holder,
      jsonb_strip_nulls(jsonb_build_object('epoch', now_epoch, 'extended', nullif(extended, 0))));
  end if;
  return now_epoch;
end $$;
comment on function weir.lead is 'Takes or renews the lead and returns its epoch; null: another leads.';
