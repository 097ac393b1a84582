-- What a node may have as labels and capacity. Null is fine for who leaves it as it is.
create or replace function weir._check_node(labels jsonb, capacity jsonb) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
begin
  if jsonb_typeof(labels) <> 'object'
    or exists (select from jsonb_each(case when jsonb_typeof(labels) = 'object' then labels end) v
      where jsonb_typeof(v.value) <> 'string') then
    perform weir._invalid('labels', 'expected an object with string values');
  end if;
  if jsonb_typeof(capacity) <> 'object'
    or exists (select from jsonb_each_text(case when jsonb_typeof(capacity) = 'object' then capacity end) v
      where v.value is null or v.value !~ '^[0-9]{1,6}$') then
    perform weir._invalid('capacity', 'expected an object of service and number of slots');
  end if;
end $$;
comment on function weir._check_node is 'Refuses labels and capacity that are of the wrong form.';
