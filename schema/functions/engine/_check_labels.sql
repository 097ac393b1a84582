-- Refuses labels that no node could have.
create or replace function weir._check_labels(labels jsonb) returns void
language plpgsql stable
as $$
begin
  if jsonb_typeof(labels) <> 'object'
    or exists (select from jsonb_each(case when jsonb_typeof(labels) = 'object' then labels end) v
      where jsonb_typeof(v.value) <> 'string') then
    perform weir._invalid('labels', 'expected an object with string values');
  end if;
end $$;
comment on function weir._check_labels is 'WR422 unless labels are an object with string values.';
