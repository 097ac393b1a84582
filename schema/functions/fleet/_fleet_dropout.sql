-- Devices of a PC are absent from its report. One alone is missing, and offline if that stays so. But two or more that
-- are a fifth of the PC, or of one of its hubs, did not all break at once: the PC is paused for 2 min, and what runs on
-- them is given back. Those that went missing in the last 30 s count: a hub may die over two reports.
-- Losses count, not absences: a device that had been away in the 10 min before is no new one, and one that is out of
-- the schedule, or that its power command switched off, takes no part. A pause is not prolonged, and a PC is paused
-- three times in an hour at most: a cable that comes and goes must not stop the devices that work.
-- Leases and jobs come before devices: the caller marks those as missing.
create or replace function weir._fleet_dropout(n weir.nodes, absent int[], t timestamptz)
returns table (task uuid, attempt int, why text)
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  most constant int := 3;
  p weir.pcs;
  fresh boolean;
  lost int[];
  what text;
  r weir.running;
begin
  with d as materialized (
    select d.id, d.hub, (d.id = any (absent) or d.missing_at is not null)
      and coalesce(d.absent_at <= coalesce(d.missing_at, t) - interval '10 min', true)
      and not weir._device_powered(d.id) as away
    from weir.devices d
    where d.node = n.id and d.online and d.health not in ('quarantined', 'maintenance', 'retired')
  ), g as (
    select 1 as nth, format('%s of %s devices', count(*) filter (where d.away), count(*)) as what,
      array_agg(d.id) filter (where d.away) as ids, count(*) filter (where d.away) as away, count(*) as total
    from d
    union all
    select 2, format('%s of %s devices of hub %s', count(*) filter (where d.away), count(*), d.hub),
      array_agg(d.id) filter (where d.away), count(*) filter (where d.away), count(*)
    from d where d.hub is not null group by d.hub
  )
  select g.ids, g.what into lost, what from g where g.away >= 2 and g.away >= 0.2 * g.total
  order by g.nth, g.away desc limit 1;
  if lost is null then
    return;
  end if;
  select * into p from weir.pcs x where x.node = n.id;
  fresh := coalesce(p.pauses_at <= t - interval '1 h', true);
  if coalesce(p.paused_until > t, false) or fresh or p.pauses < most then
    what := format('lost %s at once', what);
    for r in
      with x as (delete from weir.running x where x.device = any (lost) returning x.*) select * from x order by x.task
    loop
      insert into weir.forgiven as f (task, returns) values (r.task, 1)
      on conflict (task) do update set returns = f.returns + 1;
      if r.cancel_at is not null then
        perform weir._close(array[weir._finished_lease(r, 'canceled', r.cancel_note, t)]);
        perform weir._after_end(array[r.task], '{}', '{}', t);
      else
        perform weir._give_up_lease(r, 'returned', format('%s %s', n.name, what), t);
      end if;
      task := r.task; attempt := r.attempt; why := format('%s %s', n.name, what);
      return next;
    end loop;
  end if;
  if coalesce(p.paused_until <= t, true) and (fresh or p.pauses < most) then
    update weir.pcs x
    set paused_until = t + interval '2 min', pause_note = what, pauses = case when fresh then 1 else x.pauses + 1 end,
      pauses_at = case when fresh then t else x.pauses_at end
    where x.node = n.id;
    insert into weir.events (at, type, kind, subject, level, message, data)
    values (t, 'paused', 'pc', n.name, 'warn', what,
      jsonb_build_object('until', t + interval '2 min', 'devices', cardinality(lost)));
  end if;
end $$;
comment on function weir._fleet_dropout is 'Gives back what ran on devices that were lost together.';
