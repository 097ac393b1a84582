-- Most views of the schemas flow and fleet are for reading. Whoever writes to one hears which functions do what they
-- want.
create or replace function weir._flow_refuse() returns trigger
language plpgsql security definer
set search_path = weir, pg_temp
as $$
begin
  perform weir._invalid(null, '%s of %s.%s: this view is for reading',
    jsonb_build_array(lower(tg_op), tg_table_schema, tg_table_name), hint => format('use %s', tg_argv[0]));
end $$;
comment on function weir._flow_refuse is 'Refuses to write to a view, and says what to use.';
