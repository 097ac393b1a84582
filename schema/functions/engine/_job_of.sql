-- The id of a job that a client may know by one of its own.
create or replace function weir._job_of(id uuid) returns uuid
language sql stable
set search_path = weir, pg_temp
as $$ select coalesce((select g.job from weir.given_ids g where g.given = _job_of.id), _job_of.id) $$;
comment on function weir._job_of is 'The id of a job, from the id that its client gave it or from its own.';
