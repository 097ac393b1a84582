-- Refuses who speaks for a node of another role, or for one that joined through a server: its credential says who it
-- is.
create or replace function weir._own_node(node text) returns void
language plpgsql stable
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  caller text := weir._caller();
  keeper text;
begin
  if caller is null then
    return;
  end if;
  select case when exists (select from weir.node_credentials c where c.node = n.name) then 'a server'
    else n.registered_by end
  into keeper from weir.nodes n where n.name = _own_node.node;
  if keeper <> caller then
    raise exception using errcode = '42501',
      message = format('node %s was registered by %s, not by %s', _own_node.node, keeper, caller),
      hint = 'take another name, or let the owner of the schema drop the node first: select weir.drop_node(…)';
  end if;
end $$;
comment on function weir._own_node is 'Refuses who speaks for a node of another role.';
