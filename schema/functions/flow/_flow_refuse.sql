-- Most views of the schemas flow and fleet are for reading. Whoever writes to one hears which functions do what they want.
create or replace function weir._flow_refuse() returns trigger
language plpgsql
as $$
begin
  raise exception using errcode = 'WR422', message = format('%s of %s.%s: this view is for reading', lower(tg_op), tg_table_schema, tg_table_name), hint = format('use %s', tg_argv[0]);
end $$;
comment on function weir._flow_refuse is 'Refuses to write to a view, and says what to use.';
