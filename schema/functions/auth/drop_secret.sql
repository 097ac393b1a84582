-- Removes a secret. Work that was given it keeps it; work that asks from now on is refused.
create or replace function weir.drop_secret(name text, by text default null, at timestamptz default null) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  delete from weir.secrets s where s.name = drop_secret.name;
  if not found then
    perform weir._not_found('secret', left(drop_secret.name, 120));
  end if;
  insert into weir.events (at, type, kind, subject, source)
  values (weir._clock(drop_secret.at), 'removed', 'secret', drop_secret.name, drop_secret.by);
end $$;
comment on function weir.drop_secret is 'Removes a secret.';
