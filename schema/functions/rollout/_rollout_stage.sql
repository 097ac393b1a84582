-- The stage of a rollout that a command names.
create or replace function weir._rollout_stage(id uuid, stage text) returns weir.rollout_stages
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  s weir.rollout_stages;
begin
  select * into s from weir.rollout_stages x where x.rollout = _rollout_stage.id and x.name = _rollout_stage.stage;
  if not found then
    perform weir._raise('WR404', null, 'rollout %s has no stage %s',
      jsonb_build_array(_rollout_stage.id, _rollout_stage.stage),
      hint => format('it has: %s',
        (select string_agg(x.name, ', ' order by x.n) from weir.rollout_stages x where x.rollout = _rollout_stage.id)));
  end if;
  return s;
end $$;
comment on function weir._rollout_stage is 'A stage by name, or WR404.';
