-- The first closed gate after needs, or null when a task may be available. Lane and pool count as closed: only
-- weir._open opens them.
create or replace function weir._next_gate(plan boolean, run_at timestamptz, hold text, lane text, pool text,
  at timestamptz)
returns weir.gate
language sql immutable parallel safe
as $$
  select case
    when plan then 'plan'::weir.gate
    when run_at > at then 'time'
    when hold is not null then 'hold'
    when lane is not null then 'lane'
    when pool is not null then 'pool'
  end
$$;
comment on function weir._next_gate is 'The gate a task comes to stand at once its needs are met; null: none.';
