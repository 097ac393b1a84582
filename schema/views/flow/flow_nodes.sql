-- Nodes as the workflow core had them. Its upsert_heartbeat is weir.register_node and weir.heartbeat, its wake
-- providers are weir.set_wake.
-- awake_state  awake | sleep (told to sleep, or being woken) | unknown (not seen for 30 s, and nobody told it to sleep)
--   wake_method  wol | provider (an HTTP call, to provider_ref) | script
create or replace view flow.nodes as
select n.name::text as name, n.labels, n.seen_at as last_seen,
  case n.wake_state when 'awake' then 'awake' when 'unknown' then 'unknown' else 'sleep' end as awake_state,
  case n.wake_method when 'http' then 'provider' else n.wake_method end as wake_method, x.wake ->> 'mac' as mac,
  x.wake ->> 'url' as provider_ref, x.wake ->> 'script' as script, n.capacity as max_concurrency
from weir.node n join weir.nodes x on x.name = n.name;
comment on view flow.nodes is 'Nodes, and how they are woken.';

create or replace trigger write instead of insert or update or delete on flow.nodes for each row
execute function weir._flow_refuse('weir.register_node, weir.set_node and weir.set_wake');
