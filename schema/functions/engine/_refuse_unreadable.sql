-- Finds the field that could not be read, so that the error can name it.
create or replace function weir._refuse_unreadable(tasks jsonb) returns void
language plpgsql stable
set search_path = weir, pg_temp
as $$
declare
  x record;
begin
  for x in select e.n, f.key, f.value
    from jsonb_array_elements(tasks) with ordinality e (task, n), jsonb_each(e.task) f loop
    begin
      perform jsonb_populate_record(null::weir.task_spec, jsonb_build_object(x.key, x.value));
    exception when data_exception then
      perform weir._invalid_task(x.n, weir._fault(x.key, '%s', sqlerrm));
    end;
  end loop;
end $$;
comment on function weir._refuse_unreadable is 'Raises WR422 for the first field of the wrong type.';
