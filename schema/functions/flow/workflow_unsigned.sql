-- A delivery to a webhook whose signature is wrong. One row stands for all of an address, so that a stranger cannot
-- fill the list. A trigger that does not exist, or is no webhook, keeps nothing.
create or replace function weir.workflow_unsigned(trigger text, address text, at timestamptz default null)
returns void
language sql security definer
set search_path = weir, pg_temp
as $$
  insert into weir.firings as f (trigger, key, at, state, reason)
  select g.name, 'unsigned/' || left(workflow_unsigned.address, 100), weir._clock(workflow_unsigned.at), 'ignored',
    jsonb_build_object('code', 'delivery_unsigned', 'from', left(workflow_unsigned.address, 100), 'times', 1)
  from weir.triggers g where g.name = workflow_unsigned.trigger and g.kind = 'webhook'
  on conflict (trigger, key) do update
  set at = excluded.at,
    reason = f.reason || jsonb_build_object('times', least((f.reason ->> 'times')::int, 1000000) + 1)
$$;
comment on function weir.workflow_unsigned is 'Notes a delivery to a webhook with a wrong signature.';
