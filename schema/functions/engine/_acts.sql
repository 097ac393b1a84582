-- Says for the rest of the transaction that commands come from the owner of a kind of job, who knows its rules (weir._free).
create or replace function weir._acts(kind text) returns void
language sql volatile
as $$ select set_config('weir.acts', kind, true) $$;
comment on function weir._acts is 'The commands of this transaction come from the owner of such jobs.';
