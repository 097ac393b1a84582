-- What the domain of a job has to say about it (what = job), or about a task of it that runs (what = task), as rows of
-- weir.why.
create or replace function weir._why_of(what text, kind text, id uuid, t timestamptz)
returns table (gate text, open boolean, reason jsonb, blocker uuid, since timestamptz)
language plpgsql stable
set search_path = weir, pg_temp
as $$
declare
  hook regprocedure := weir._hook('why_' || what, kind, 'uuid, timestamptz');
begin
  if hook is not null then
    return query execute format('select * from %s($1, $2)', hook::regproc) using id, t;
  end if;
end $$;
comment on function weir._why_of is 'What the domain of a job adds to weir.why.';
