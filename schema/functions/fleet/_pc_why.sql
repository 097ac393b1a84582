-- Why a PC gets no work; null: it may. p is null for a node that is no PC.
create or replace function weir._pc_why(n weir.nodes, p weir.pcs, t timestamptz) returns text
language sql stable parallel safe
as $$
  select case
    when n.id is null then 'it hangs on no PC'
    when n.seen_at < t - interval '45 s' then format('%s offline since %s', n.name, to_char(n.seen_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC'))
    when p.left_at is not null then format('%s has no agent since %s', n.name, to_char(p.left_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC'))
    when p.blind_at < t - interval '30 s' then format('%s cannot see its devices since %s: %s', n.name, to_char(p.blind_at at time zone 'UTC', 'HH24:MI:SS UTC'), p.trouble)
    when p.paused_until > t then format('%s paused until %s: %s', n.name, to_char(p.paused_until at time zone 'UTC', 'HH24:MI:SS UTC'), coalesce(p.pause_note, 'no reason given'))
    when p.slots = 0 then format('%s has no slots', n.name)
    when n.mode <> 'active' and coalesce(n.mode_until, 'infinity') > t then concat_ws(': ', format('%s is %s', n.name, n.mode), n.note)
  end
$$;
comment on function weir._pc_why is 'Why a PC gets no work, or null.';
