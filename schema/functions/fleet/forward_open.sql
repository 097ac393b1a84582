-- A person asks for a forward to a port of a device. Its PC's agent hears of it by a hint, or at its next look
-- (weir.forward_orders). The locks are those of a claim, so that none takes the device at this moment.
-- id: made by the server that carries it; server: where other servers reach that one. holder: as
-- weir.device_reserve. forced: an admin does without a reservation. Returns the name of the PC.
create or replace function weir.forward_open(id uuid, serial text, port int, by text default null,
  holder text default null, forced boolean default false, server text default null, at timestamptz default null)
returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  most constant int := 16;
  t timestamptz := weir._clock(forward_open.at);
  source text := coalesce(nullif(forward_open.by, ''), session_user::text);
  person text := coalesce(nullif(forward_open.holder, ''), source);
  d weir.devices;
  n weir.nodes;
  p weir.pcs;
begin
  perform weir._check(weir._bad_text('by', forward_open.by, 500), weir._bad_text('holder', forward_open.holder, 500),
    weir._bad_text('server', forward_open.server, 500));
  if forward_open.id is null then
    perform weir._invalid('id', 'it is missing');
  end if;
  if coalesce(forward_open.port not between 1 and 65535, true) then
    perform weir._invalid('port', '%s is no port', jsonb_build_array(forward_open.port),
      hint => 'give a number from 1 to 65535');
  end if;
  d := weir._device_locked(forward_open.serial);
  select * into n from weir.nodes x where x.id = d.node;
  select * into p from weir.pcs x where x.node = d.node;
  if n.id is null or p.node is null or n.seen_at < t - interval '45 s' or p.left_at is not null then
    perform weir._conflict('the PC of device %s does not answer', jsonb_build_array(d.serial),
      hint => 'start its agent');
  end if;
  if not d.online or d.missing_at is not null or d.health = 'retired' then
    perform weir._conflict('device %s is not there', jsonb_build_array(d.serial), hint => 'see why',
      command => 'weir device show ' || d.serial);
  end if;
  if p.forwards is null or isempty(p.forwards) then
    perform weir._conflict('PC %s allows no forwards', jsonb_build_array(n.name),
      hint => 'its operator starts the agent with --forward');
  end if;
  if not p.forwards @> forward_open.port then
    perform weir._conflict('PC %s allows no forward to port %s', jsonb_build_array(n.name, forward_open.port),
      hint => format('it allows %s', weir._ports(p.forwards)), field => 'port');
  end if;
  if not coalesce(forced, false) then
    if d.reserved_by <> person then
      perform weir._conflict('device %s is reserved by %s until %s',
        jsonb_build_array(d.serial, d.reserved_by, weir._instant(d.reserved_until)),
        hint => 'wait, or ask an admin to release it');
    end if;
    if not coalesce(weir._forward_held(d, person, t), false) then
      perform weir._conflict('device %s is not reserved by you: a forward could disturb a run on it',
        jsonb_build_array(d.serial), hint => 'reserve it first',
        command => format('weir device reserve %s --until 2h', d.serial));
    end if;
    if exists (select from weir.running r where r.device = d.id) then
      perform weir._conflict('a run on device %s goes on, which a forward could disturb',
        jsonb_build_array(d.serial), hint => 'wait until it ended, or cancel it',
        command => 'weir device show ' || d.serial);
    end if;
  end if;
  if (select count(*) from weir.forwards f where f.device = d.id) >= most then
    perform weir._conflict('device %s has %s forwards open already', jsonb_build_array(d.serial, most),
      hint => 'end one of them');
  end if;
  insert into weir.forwards (id, device, node, port, person, source, forced, server, opened_at, seen_at)
  values (forward_open.id, d.id, n.id, forward_open.port, person, source, coalesce(forced, false),
    nullif(forward_open.server, ''), t, t)
  on conflict do nothing; -- the same call again
  perform pg_notify('weir_forward', n.name);
  return n.name;
end $$;
comment on function weir.forward_open is 'Asks the agent of a device''s PC for a forward.';
