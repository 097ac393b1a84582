-- The forwards that the agent of a PC should take up. ports: what it allows, as '5555,8000-8010'; it is written where
-- it is new. A forward whose server fell silent is none.
create or replace function weir.forward_orders(pc text, ports text, at timestamptz default null)
returns table (id uuid, serial text, port int)
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(forward_orders.at);
  n int := (select x.id from weir.nodes x where x.name = forward_orders.pc);
  allowed int4multirange := '{}';
  word text[];
begin
  perform weir._check(weir._bad_text('ports', forward_orders.ports, 2000));
  for word in select regexp_match(w, '^(\d{1,5})(?:-(\d{1,5}))?$')
    from string_to_table(coalesce(forward_orders.ports, ''), ',') w loop
    if word is null or word[1]::int not between 1 and 65535
      or coalesce(word[2], word[1])::int not between word[1]::int and 65535 then
      perform weir._invalid('ports', '%L is no list of ports', jsonb_build_array(left(forward_orders.ports, 100)),
        hint => 'write it so: 5555,8000-8010');
    end if;
    allowed := allowed + int4multirange(int4range(word[1]::int, coalesce(word[2], word[1])::int, '[]'));
  end loop;
  update weir.pcs p set forwards = allowed where p.node = n and p.forwards is distinct from allowed;
  return query select f.id, d.serial, f.port from weir.forwards f join weir.devices d on d.id = f.device
    where f.node = n and f.joined_at is null and f.refused is null and f.seen_at > t - interval '1 min'
    order by f.opened_at, f.id limit 100;
end $$;
comment on function weir.forward_orders is 'The forwards that a PC''s agent should take up.';
