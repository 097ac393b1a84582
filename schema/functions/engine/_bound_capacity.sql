-- How much a node does at once: what it says, and no more than the token it joined with lets it (null: any). A service
-- that it may not do has no slot, which its agent hears with the next heartbeat.
create or replace function weir._bound_capacity(says jsonb, most jsonb) returns jsonb
language sql immutable
set search_path = weir, pg_temp
as $$
  select case when most is null then says
    else (select coalesce(jsonb_object_agg(s.key, least(s.value::int, coalesce((most ->> s.key)::int, 0))), '{}')
      from jsonb_each_text(says) s) end
$$;
comment on function weir._bound_capacity is 'The capacity that a node says, within what it may have.';
