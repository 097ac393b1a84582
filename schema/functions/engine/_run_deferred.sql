-- Runs now what deferred triggers would do at commit, so that the caller sees their errors.
create or replace function weir._run_deferred() returns void
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  names text := (select string_agg(format('weir.%I', c.conname), ', ') from pg_constraint c
    where c.connamespace = 'weir'::regnamespace and c.condeferred and c.conparentid = 0);
begin
  if names is not null then
    execute format('set constraints %s immediate', names);
    execute format('set constraints %s deferred', names);
  end if;
end $$;
comment on function weir._run_deferred is 'Runs the deferred triggers of this transaction.';
