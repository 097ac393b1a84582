-- The state of a PC in one word: dead (silent, or its agent has left), blind (it cannot see its devices), paused, or
-- the mode of its node.
create or replace function weir._pc_state(n weir.nodes, p weir.pcs, t timestamptz) returns text
language sql stable parallel safe
as $$
  select case when n.seen_at < t - interval '45 s' or p.left_at is not null then 'dead'
    when p.blind_at < t - interval '30 s' then 'blind' when p.paused_until > t then 'paused'
    when coalesce(n.mode_until, 'infinity') > t then n.mode else 'active' end
$$;
comment on function weir._pc_state is 'The state of a PC in one word.';
