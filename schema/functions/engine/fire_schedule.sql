-- Submits the runs of a schedule that are due and sets its next time, once: was must be the time it had, so that two
-- callers never both fire. Null as the next time says that there is none. Returns the tasks, or the jobs of a workflow.
create or replace function weir.fire_schedule(name text, was timestamptz, due timestamptz[], next_at timestamptz,
  at timestamptz default null)
returns uuid[]
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  fired jsonb := weir._fire(jsonb_build_array(jsonb_build_object('name', fire_schedule.name, 'was', fire_schedule.was,
        'due', to_jsonb(fire_schedule.due), 'next_at', fire_schedule.next_at)),
    weir._clock(fire_schedule.at));
begin
  return array(select x.id::uuid
    from jsonb_array_elements_text(coalesce(fired -> fire_schedule.name, '[]')) with ordinality x (id, n) order by x.n);
end $$;
comment on function weir.fire_schedule is 'Submits due runs of a schedule exactly once.';
