-- What is asked for by a task, for comparing it with what was asked before under the same key: not when, for that is
-- often counted from now, and not by whom.
create or replace function weir._body_hash(spec weir.task_spec) returns bytea
language sql stable
set search_path = weir, pg_temp
as $$
  select sha256(convert_to((jsonb_strip_nulls(to_jsonb(spec)) - '{idempotency_key,run_at,trace}'::text[])::text,
      'UTF8'))
$$;
comment on function weir._body_hash is 'The hash of what a task asks for.';
