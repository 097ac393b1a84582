-- What an approval is bound to. The text of a jsonb has one form, so the same plan has the same hash.
create or replace function weir._rollout_hash(plan jsonb) returns text
language sql immutable
as $$ select encode(sha256(convert_to(plan::text, 'UTF8')), 'hex') $$;
comment on function weir._rollout_hash is 'The hash of a frozen plan.';
