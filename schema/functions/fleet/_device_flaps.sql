-- Whether a device comes and goes: five losses within an hour. Then a success says nothing about its cable.
create or replace function weir._device_flaps(d weir.devices, t timestamptz) returns boolean
language sql immutable parallel safe
as $$ select d.flaps >= 5 and d.flaps_at > t - interval '1 h' $$;
comment on function weir._device_flaps is 'Does a device come and go?';
