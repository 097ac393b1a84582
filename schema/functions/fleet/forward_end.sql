-- A forward ended: its row goes, and one that was taken up is in the timeline with its reason and what it carried.
create or replace function weir.forward_end(id uuid, why text, sent bigint default 0, received bigint default 0,
  at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(forward_end.at);
  f weir.forwards;
begin
  perform weir._check(weir._bad_text('why', forward_end.why, 200));
  delete from weir.forwards x where x.id = forward_end.id returning * into f;
  if f.joined_at is not null then
    insert into weir.events (at, type, kind, subject, source, message, data)
    select t, 'unforwarded', 'device', d.serial, f.source, format('to port %s', f.port),
      jsonb_build_object('id', f.id, 'by', f.person, 'port', f.port, 'why', forward_end.why,
        'sent', greatest(forward_end.sent, 0), 'received', greatest(forward_end.received, 0))
    from weir.devices d where d.id = f.device;
  end if;
  return f.id is not null;
end $$;
comment on function weir.forward_end is 'A forward ended.';
