-- The first condition of a target that a device does not meet, as a reason; null: it is in the target.
create or replace function weir._fleet_unmatched(target jsonb, serial text, labels jsonb) returns jsonb
language sql immutable parallel safe
as $$
  select x.said from (
    select 1 as turn, jsonb_build_object('code', 'target_serial') as said where not target -> 'devices' ? serial
    union all
    select 2, jsonb_build_object('code', 'target_label', 'condition', 'tag=' || (target ->> 'tag'),
      'has', labels ->> 'tag')
    where labels -> 'tag' is distinct from target -> 'tag' and target ? 'tag'
    union all
    select 3, jsonb_build_object('code', 'target_label', 'condition', l.key || '=' || l.value, 'has', labels ->> l.key)
    from jsonb_each_text(case when jsonb_typeof(target -> 'labels') = 'object' then target -> 'labels' end) l
    where labels ->> l.key is distinct from l.value
    union all
    select 4, jsonb_build_object('code', 'target_label', 'condition', m.c,
      'has', labels ->> (select p.key from weir._label_condition(m.c) p))
    from jsonb_array_elements_text(case when jsonb_typeof(target -> 'match') = 'array' then target -> 'match' end) m (c)
    where not weir._label_holds(m.c, labels)
  ) x order by x.turn, x.said ->> 'condition' limit 1
$$;
comment on function weir._fleet_unmatched is 'Which condition of a target a device does not meet, or null.';
