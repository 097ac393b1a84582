-- Says for the rest of the transaction that commands come from the owner of a kind of job, who knows its rules
-- (weir._refuse_owned).
create or replace function weir._act_as_owner(kind text) returns void
language sql volatile
as $$ select set_config('weir.acting_owner', kind, true) $$;
comment on function weir._act_as_owner is 'The commands of this transaction come from the owner of such jobs.';
