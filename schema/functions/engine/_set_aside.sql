-- Notes that a task could not be moved, so that the next passes leave it alone for a while: a minute, then twice as
-- long each time, up to an hour. A lock that was not free, and what else may be different in a moment, is no fault of
-- the task.
create or replace function weir._set_aside(of_task uuid, doing text, code text, message text, t timestamptz)
returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  if code = '55P03' or left(code, 2) in ('40', '53', '57', '58') then
    return;
  end if;
  insert into weir.set_aside as s (task, doing, error, since, tries, next_at)
  values (of_task, _set_aside.doing, left(format('%s (SQLSTATE %s)', message, code), 2000), t, 1, t + interval '1 min')
  on conflict (task) do update set doing = excluded.doing, error = excluded.error, tries = s.tries + 1,
    next_at = t + least(interval '1 min' * 2 ^ least(s.tries, 6), interval '1 hour');
end $$;
comment on function weir._set_aside is 'A task that could not be moved, with the error.';
