-- The function by which the domain of a kind of job or of a service takes part in what the engine does:
-- weir._why_job_of_fleet has what = why_job and kind = fleet. Null: it takes no part, or there is no kind. So SQL of
-- the engine names no domain; the arguments are part of the name. For what is rare only: the caller executes a text.
create or replace function weir._hook(what text, kind text, arguments text) returns regprocedure
language sql stable strict
as $$ select to_regprocedure(format('weir.%I(%s)', '_' || what || '_of_' || kind, arguments)) $$;
comment on function weir._hook is 'The function of a domain for a kind; null: there is none.';
