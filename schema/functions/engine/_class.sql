-- The class of a service, a priority and labels, made if it is new.
create or replace function weir._class(of_service text, of_priority int, of_labels jsonb) returns int
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  found_id int;
begin
  select c.id into found_id from weir.classes c
  where c.service = of_service and c.priority = of_priority and c.labels = of_labels;
  if not found then
    insert into weir.classes as c (service, priority, labels) values (of_service, of_priority, of_labels)
    on conflict (service, priority, labels) do update set priority = excluded.priority returning c.id into found_id;
  end if;
  return found_id;
end $$;
comment on function weir._class is 'The id of a class.';
