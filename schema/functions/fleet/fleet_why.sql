-- Why a fleet job is not further: first a row without a device that says it in one line, then a row per unit that
-- waits, failed or was missed, with the device, its PC and the reason: a code with its arguments, and the English
-- sentence that is made of them.
create or replace function weir.fleet_why(job uuid, most int default 500, at timestamptz default null)
returns table (device text, pc text, why text, code text, args jsonb)
language sql stable security definer
set search_path = weir, pg_temp
set jit = off
as $$
  select w.device, w.pc, weir._sentence(r.reason), r.reason ->> 'code', r.reason - 'code'
  from weir._fleet_why(fleet_why.job, fleet_why.most, weir._clock(fleet_why.at)) w,
    lateral (select jsonb_strip_nulls(w.reason) as reason) r
$$;
comment on function weir.fleet_why is 'Why a fleet job is not further: in one line, and per device.';
