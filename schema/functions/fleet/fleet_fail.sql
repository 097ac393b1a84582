-- Ends an attempt on a device as failed. infra: the infrastructure broke it, not the test; that has a budget of its
-- own, and the retry may go elsewhere. Without it this is weir.fail. harmless: it could not even be begun, so it says
-- nothing about the device. final: another attempt would not mend it.
-- reason as in weir.fail_many. Returns ok, or why it was not accepted: repeated, lease_lost, unknown.
create or replace function weir.fleet_fail(task uuid, attempt int, token uuid, error text, infra boolean default false,
  harmless boolean default false, final boolean default false, reason text default null, at timestamptz default null)
returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz;
  r weir.running;
begin
  -- A health task that could not be begun comes again, as one that the infrastructure broke.
  if not coalesce(fleet_fail.infra, false)
    and not (coalesce(fleet_fail.harmless, false)
      and not exists (select from weir.fleet_units u where u.task = fleet_fail.task)) then
    if coalesce(fleet_fail.harmless, false)
      and exists (select from weir.running x
        where x.task = fleet_fail.task and x.attempt = fleet_fail.attempt and x.token = fleet_fail.token) then
      update weir.fleet_units u set harmless = true where u.task = fleet_fail.task;
    end if;
    return weir.fail(fleet_fail.task, fleet_fail.attempt, fleet_fail.token, fleet_fail.error,
      final => coalesce(fleet_fail.final, false), reason => fleet_fail.reason, at => fleet_fail.at);
  end if;
  t := weir._clock(fleet_fail.at);
  delete from weir.running x
  where x.task = fleet_fail.task and x.attempt = fleet_fail.attempt and x.token = fleet_fail.token
    and x.device is not null
  returning * into r;
  if not found then
    return (select x.refusal
      from weir._refuse('fail', array[fleet_fail.task], array[fleet_fail.attempt], array[fleet_fail.token], null, null,
        t) x);
  end if;
  if weir._fleet_fail_infrastructure(r, weir._text(coalesce(fleet_fail.error, 'no reason given')),
    coalesce(fleet_fail.harmless, false), t) then
    perform weir._after_end(array[r.task], '{}', '{}', t);
  end if;
  return 'ok';
end $$;
comment on function weir.fleet_fail is 'Ends an attempt on a device as failed, by the test or by the infrastructure.';
