-- An executor adds a line to the log of its run, as weir.record does. A line of type waiting or retry is also its last
-- word, which people see as the cause until the statement went through: any other line takes it back. quiet: the word
-- alone, no line. A line of type partial is what of the run is applied and stays.
create or replace function weir.rollout_says(task uuid, attempt int, token uuid, type text, message text,
  data jsonb default null, quiet boolean default false, at timestamptz default null)
returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(rollout_says.at);
  waits boolean := rollout_says.type in ('waiting', 'retry');
  answer text := 'ok';
begin
  if rollout_says.quiet then
    perform from weir.running l
    where l.task = rollout_says.task and l.attempt = rollout_says.attempt and l.token = rollout_says.token;
    if not found then
      return 'lease_lost';
    end if;
  else
    answer := weir.record(rollout_says.task, rollout_says.attempt, rollout_says.token, rollout_says.type,
      rollout_says.message, rollout_says.data, at => rollout_says.at);
  end if;
  if answer = 'ok' then
    update weir.rollout_runs g
    set says = case when waits then weir._text(left(rollout_says.message, 1000)) end,
      says_since = case when waits then coalesce(g.says_since, t) end,
      stays = case when rollout_says.type = 'partial' then weir._text(left(rollout_says.message, 1000)) else g.stays end
    where g.task = rollout_says.task and g.attempt = rollout_says.attempt
      and (waits or g.says is not null or rollout_says.type = 'partial');
  end if;
  return answer;
end $$;
comment on function weir.rollout_says is 'A line of a run''s log, and what it waits for.';
