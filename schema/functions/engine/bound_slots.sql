-- For how many tasks of each service a node may claim: the slots it asks for, and no more than the token it joined with
-- lets it. A service that its token does not name has none. So whoever holds the credential of such a node gets the
-- work of that node, whichever services they ask for.
create or replace function weir.bound_slots(node text, services text[], slots int[], n int) returns int[]
language sql stable security definer
set search_path = weir, pg_temp
as $$
  select coalesce((
    select (select array_agg(least(coalesce(s.slots, bound_slots.n), coalesce((c.services ->> s.service)::int, 0))
        order by s.nth)
      from unnest(bound_slots.services, bound_slots.slots) with ordinality s (service, slots, nth))
    from weir.node_credentials c where c.node = bound_slots.node and c.services is not null), bound_slots.slots)
$$;
comment on function weir.bound_slots is 'The slots for which a node may claim, of those it asks for.';
