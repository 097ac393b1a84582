-- A worker that claims before it registered, as a psql session or a script does, is registered by its first claim.
create or replace function weir._worker(worker text, services text[], t timestamptz) returns weir.workers
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  w weir.workers;
begin
  if coalesce(worker, '') = '' or length(worker) > 200 then
    perform weir._invalid('worker', 'a name of 1 to 200 characters');
  end if;
  if array_position(services, null) is not null then
    perform weir._invalid('services', 'expected a list of names');
  end if;
  insert into weir.workers as x (name, services, started_at, seen_at) values (worker, services, t, t)
  on conflict (name) do update set seen_at = excluded.seen_at returning * into w;
  return w;
end $$;
comment on function weir._worker is 'The row of a worker, made if it is new.';
