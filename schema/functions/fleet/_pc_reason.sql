-- Why a PC gets no work; null: it may. p is null for a node that is no PC.
create or replace function weir._pc_reason(n weir.nodes, p weir.pcs, t timestamptz) returns jsonb
language sql stable parallel safe
as $$
  select case
    when n.id is null then jsonb_build_object('code', 'pc_none')
    when n.seen_at < t - interval '45 s' then jsonb_build_object('code', 'pc_offline', 'pc', n.name,
      'since', weir._instant(n.seen_at))
    when p.left_at is not null then jsonb_build_object('code', 'pc_left', 'pc', n.name,
      'since', weir._instant(p.left_at))
    when p.blind_at < t - interval '30 s' then
      jsonb_build_object('code', 'pc_blind', 'pc', n.name, 'since', weir._instant(p.blind_at), 'trouble', p.trouble)
    when p.paused_until > t then jsonb_build_object('code', 'pc_paused', 'pc', n.name,
      'until', weir._instant(p.paused_until),
      'note', coalesce(to_jsonb(p.pause_note), '{"code": "no_reason"}'))
    when p.slots = 0 then jsonb_build_object('code', 'pc_slotless', 'pc', n.name)
    when n.mode <> 'active' and coalesce(n.mode_until, 'infinity') > t then
      jsonb_build_object('code', 'pc_mode', 'pc', n.name, 'mode', n.mode, 'note', n.note)
  end
$$;
comment on function weir._pc_reason is 'Why a PC gets no work, or null.';
