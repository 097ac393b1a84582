-- The agent of a node reports everything that is broken there, by service:
-- [{"service", "fault", "message", "retry_in"}], where retry_in is in seconds and left out if the node claims again as
-- soon as what is broken answers. The list replaces the one before, so an empty list means that all is well. A service
-- with a fault is not claimed by that node; why and the page of the node say so. The timeline of the node gets an event
-- when a fault begins, becomes another one, or is over.
create or replace function weir.report_faults(node text, faults jsonb, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(report_faults.at);
  n int;
  has record;
begin
  if jsonb_typeof(coalesce(faults, '[]')) <> 'array' or jsonb_array_length(coalesce(faults, '[]')) > 1000 then
    perform weir._invalid('faults', 'expected a list of at most 1000 faults');
  end if;
  if exists (select from jsonb_array_elements(coalesce(faults, '[]')) f
    where jsonb_typeof(f) <> 'object' or jsonb_typeof(coalesce(f -> 'retry_in', '0')) not in ('number', 'null')) then
    perform weir._invalid('faults', 'a fault is an object, and its retry_in a number of seconds');
  end if;
  perform weir._own_node(report_faults.node);
  select x.id into n from weir.nodes x where x.name = report_faults.node;
  if n is null then
    perform weir._not_found('node', report_faults.node, hint => 'register it first: weir.register_node');
  end if;
  for has in
    select f.* from jsonb_to_recordset(coalesce(faults, '[]'))
      f (service text, fault text, message text, retry_in float8) order by f.service
  loop
    perform weir._check(weir._bad_text('service', has.service), weir._bad_fault(has.fault),
      weir._bad_text('message', has.message, 2000), case when not has.retry_in between 0 and 86400 then
        weir._fault('retry_in', 'expected 0 to 86400 seconds') end);
    if has.service is null or has.fault is null or has.message is null then
      perform weir._invalid('faults', 'a fault has a service, a fault and a message');
    end if;
    insert into weir.events (at, type, kind, subject, level, message, data)
    select t, 'broken', 'node', report_faults.node, 'warn', has.message,
      jsonb_build_object('service', has.service, 'fault', has.fault)
    where not exists (select from weir.node_faults f
      where f.node = n and f.service = has.service and f.fault = has.fault);
    insert into weir.node_faults as f (node, service, fault, message, since, retry_at)
    values (n, has.service, has.fault, has.message, t, t + make_interval(secs => has.retry_in))
    on conflict (node, service) do update set fault = excluded.fault, message = excluded.message,
      retry_at = excluded.retry_at, since = case when f.fault = excluded.fault then f.since else excluded.since end;
  end loop;
  with d as (
    delete from weir.node_faults f
    where f.node = n and f.service not in (select x ->> 'service' from jsonb_array_elements(coalesce(faults, '[]')) x)
    returning f.*
  )
  insert into weir.events (at, type, kind, subject, data)
  select t, 'mended', 'node', report_faults.node, jsonb_build_object('service', d.service, 'fault', d.fault) from d
  order by d.service;
end $$;
comment on function weir.report_faults is 'Replaces what is broken on a node, by service.';
