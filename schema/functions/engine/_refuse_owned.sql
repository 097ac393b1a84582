-- Refuses a command for a task or job that belongs to something with rules and commands of its own: a rollout knows
-- approvals, order and what may have been applied, and the engine does not.
create or replace function weir._refuse_owned(job uuid) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  owner record;
begin
  select j.kind, j.name, j.id into owner from weir.jobs j where j.id = _refuse_owned.job and j.watched;
  if found and owner.kind is distinct from current_setting('weir.acting_owner', true) then
    perform weir._conflict('it belongs to %s %s (%s)', jsonb_build_array(owner.kind, owner.id, owner.name),
      hint => 'use its own commands', command => format('weir %s --help', owner.kind));
  end if;
end $$;
comment on function weir._refuse_owned is 'WR409 for what has commands of its own.';
