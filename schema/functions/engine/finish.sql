-- One task. Returns ok, or why it was not accepted: repeated, lease_lost, unknown.
create or replace function weir.finish(task uuid, attempt int, token uuid, result jsonb default null,
  hint boolean default true, at timestamptz default null)
returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  return coalesce((select x.refusal
      from weir.finish_many(array[finish.task], array[finish.attempt], array[finish.token], array[finish.result],
        finish.hint, finish.at) x), 'ok');
end $$;
comment on function weir.finish is 'Ends a leased task as done: ok, repeated, lease_lost or unknown.';
