-- Opens what may be open: the given lanes and pools, or (without arguments) every key that has tasks waiting, which is
-- the sweep behind all hints.
-- A pass that opens nothing writes nothing. hint as in weir.finish_many.
create or replace function weir.open_gates(lanes text[] default null, pools text[] default null,
  hint boolean default true, at timestamptz default null)
returns int
language plpgsql security definer
set search_path = weir, pg_temp
as $$
declare
  opened int;
begin
  if lanes is null and pools is null then
    select * into lanes, pools from weir._waiting_keys();
  end if;
  opened := weir._open(lanes, pools, weir._clock(at));
  if hint and opened > 0 then
    perform pg_notify('weir_available', '');
  end if;
  return opened;
end $$;
comment on function weir.open_gates is
  'Opens lane and pool gates that have room. Returns how many tasks became available.';
