-- What a PC says of its look for devices. blind: it could not look, and trouble says why. Without both all is well
-- again. Writes only what is new; a PC that stays blind is told of once, because garbage has other words at each look.
create or replace function weir.fleet_trouble(pc text, trouble text default null, blind boolean default false,
  at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(fleet_trouble.at);
  n weir.nodes := weir._fleet_pc(fleet_trouble.pc, null, t);
  says text := weir._text(nullif(fleet_trouble.trouble, ''));
  stays boolean;
begin
  if coalesce(blind, false) then
    perform weir._pc_heartbeat(n, null, t);
  end if;
  if exists (select from weir.pcs p
    where p.node = n.id and p.trouble is not distinct from says
      and (p.blind_at is not null) = coalesce(blind, false)) then
    return false;
  end if;
  select blind and p.blind_at is not null into stays from weir.pcs p where p.node = n.id;
  update weir.pcs p set trouble = says, blind_at = case when blind then coalesce(p.blind_at, t) end where p.node = n.id;
  if stays then
    return true;
  end if;
  insert into weir.events (at, type, kind, subject, level, message)
  values (t, case when blind then 'blind' when says is not null then 'trouble' else 'sees' end, 'pc', n.name,
    case when says is not null then 'warn' end, coalesce(says, 'it sees its devices'));
  perform pg_notify('weir_available', 'fleet');
  return true;
end $$;
comment on function weir.fleet_trouble is 'What a PC says of its look for devices.';
