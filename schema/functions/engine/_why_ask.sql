-- What a held task asks for, as a reason; null: nothing but a release.
create or replace function weir._why_ask(p weir.pending) returns jsonb
language sql stable
set search_path = weir, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object('code', case when a.event is null then 'approval' else 'event_due' end,
    'hold', p.hold, 'event', a.event, 'deciders', to_jsonb(a.deciders),
    'nobody', case when weir._unknown_users(a.deciders) = a.deciders and a.deciders <> '{}'
      then jsonb_build_object('code', 'no_decider') end,
    'until', case when p.gate = 'hold' then weir._instant(p.since + a.expires) end,
    'late', case when a.expires is not null then jsonb_build_object('code', 'late_' || a.late) end))
  from weir.asks a where a.task = p.task and a.open and p.hold is not null
$$;
comment on function weir._why_ask is 'What a held task asks for.';
