-- Refuses a command that only a rollout takes which has not ended.
create or replace function weir._rollout_refuse_ended(r weir.rollouts) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  ended text;
begin
  if r.replaced_by is not null then
    perform weir._conflict('rollout %s was replaced by %s', jsonb_build_array(r.job, r.replaced_by),
      hint => 'command that one');
  elsif r.aborted_at is not null then
    perform weir._conflict('rollout %s was %s',
      jsonb_build_array(r.job, weir._note('aborted', r.aborted_by, r.abort_note)),
      hint => 'create another; what is applied already is not applied again');
  end if;
  if not exists (select from weir.job_live l where l.job = r.job) then
    select f.outcome into ended from weir.job_finished f where f.job = r.job;
    perform weir._conflict('rollout %s has ended: %s', jsonb_build_array(r.job, coalesce(ended, 'long ago')),
      hint => case
        when ended in ('failed', 'canceled') then
          'retry or skip the tasks that did not succeed, or abort it to give them up'
        else 'there is nothing left to do' end);
  end if;
end $$;
comment on function weir._rollout_refuse_ended is 'WR409 for a rollout that has ended or was aborted.';
