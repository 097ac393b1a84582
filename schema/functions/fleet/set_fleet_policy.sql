-- Changes what holds for all of the fleet: an object with policy, health, overlap and slots. What it does not name
-- stays; health null means that there is no health task. Returns all of it.
create or replace function weir.set_fleet_policy(change jsonb, by text default null, at timestamptz default null)
returns jsonb
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_fleet_policy.at);
  bad text;
  was weir.fleet_policy;
  has weir.fleet_policy;
begin
  if jsonb_typeof(change) is distinct from 'object' then
    perform weir._invalid('policy', 'expected an object with policy, health, overlap or slots');
  end if;
  select k into bad from jsonb_object_keys(change) k where k not in ('policy', 'health', 'overlap', 'slots') limit 1;
  if bad is not null then
    perform weir._invalid(bad, 'there is no such field', hint => 'use policy, health, overlap or slots');
  end if;
  if change ? 'policy' and coalesce(change ->> 'policy', '') not in ('strict', 'evidence') then
    perform weir._invalid('policy', '%s is not strict or evidence', jsonb_build_array((change -> 'policy')::text));
  end if;
  if change ? 'overlap' and jsonb_typeof(change -> 'overlap') <> 'boolean' then
    perform weir._invalid('overlap', 'true or false');
  end if;
  if change ? 'health' and change -> 'health' <> 'null' then
    perform weir._health_check(change -> 'health');
  end if;
  select * into was from weir.fleet_policy for update;
  has := was;
  has.policy := coalesce(change ->> 'policy', was.policy);
  has.health := case when change ? 'health' then nullif(change -> 'health', 'null') else was.health end;
  has.overlap := coalesce((change ->> 'overlap')::boolean, was.overlap);
  has.slots := weir._fleet_number(change, 'slots', was.slots, 1, 1000);
  if was is distinct from has then
    update weir.fleet_policy f set policy = has.policy, health = has.health, overlap = has.overlap, slots = has.slots;
    insert into weir.events (at, type, kind, subject, source, data)
    values (t, 'set', 'fleet', 'policy', set_fleet_policy.by, to_jsonb(has) - 'one');
    perform pg_notify('weir_available', 'fleet');
  end if;
  return to_jsonb(has) - 'one';
end $$;
comment on function weir.set_fleet_policy is 'Changes the policy of the fleet and returns it.';
