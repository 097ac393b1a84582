-- Whether a node could do a piece of work if it were awake: nobody keeps it from work, it has slots for the service, or
-- had a worker for it, and has the labels.
create or replace function weir._serves(n weir.nodes, service text, labels jsonb, t timestamptz) returns boolean
language sql stable
set search_path = weir, pg_temp
as $$
  select (n.mode = 'active' or n.mode_until <= t) and coalesce((n.capacity ->> _serves.service)::int, 1) > 0 and (
    n.capacity ? _serves.service and _serves.labels <@ (n.labels || jsonb_build_object('node', n.name))
    or exists (select from weir.workers w
      where w.node = n.id and _serves.service = any (w.services)
        and _serves.labels <@ (w.labels || n.labels || jsonb_build_object('node', n.name))))
$$;
comment on function weir._serves is 'Whether a node could do work of a service with these labels.';
