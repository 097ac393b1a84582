-- Ends the reservation of a device whose row the caller holds.
create or replace function weir._device_unreserve(d weir.devices, note text, by text, t timestamptz) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  update weir.devices x
  set reserved_by = null, reserved_at = null, reserved_until = null, reserved_note = null where x.id = d.id;
  perform weir._device_spanned(x, t) from weir.devices x where x.id = d.id;
  insert into weir.events (at, type, kind, subject, source, message, data)
  values (t, 'unreserved', 'device', d.serial, by, note, jsonb_build_object('by', d.reserved_by));
  perform pg_notify('weir_available', 'fleet');
end $$;
comment on function weir._device_unreserve is 'Ends a reservation.';
