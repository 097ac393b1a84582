-- The invariants, executable. Each is a row: what must hold, whether it holds, and what breaks it. deep reads
-- everything; without it, history is judged by its newest 10,000 tasks. Rows of level health are not invariants: they
-- say what an operator should look at.
create or replace function weir.doctor(deep boolean default false, at timestamptz default null)
returns table (name text, ok boolean, level text, detail text)
language plpgsql stable security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(doctor.at);
  sample uuid[];
begin
  if not deep then
    sample := array(select q.id from weir.tasks q order by q.id desc limit 10000);
  end if;
  return query select * from weir._doctor_states(sample);
  return query select * from weir._doctor_gates();
  return query select * from weir._doctor_rollouts(t);
  return query select * from weir._doctor_fleets();
  return query select * from weir._doctor_workspaces(t);
  return query select * from weir._doctor_timeline(sample);
  return query select * from weir._doctor_health(t);
end $$;
comment on function weir.doctor is 'Checks every invariant of the database.';
