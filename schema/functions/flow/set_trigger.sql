-- Creates or changes a trigger: which workflow it runs, in its newest active version, and after the end of which
-- other; after null makes it a webhook, whose secret the server makes. outcome is how a run must have ended. What
-- condition and params may say is checked by the server: here they are opaque, and one that is wrong is said by each
-- firing. With seen, the changed_at that the caller has read, it is refused if another caller changed the trigger
-- meanwhile.
-- A ring is refused: callers come one after the other, so that two of them cannot close one together.
create or replace function weir.set_trigger(name text, workflow text, after text default null,
  outcome text default 'done', condition text default null, params jsonb default null, paused boolean default false,
  by text default null, seen timestamptz default null, at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(set_trigger.at);
  was weir.triggers;
  ring text[];
  missing text;
  is_hook constant boolean := set_trigger.after is null;
  wanted constant text := case when not is_hook then set_trigger.outcome end;
begin
  if coalesce(set_trigger.name, '') !~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$' then
    perform weir._invalid('name', 'letters, digits, _ . and -, at most 100 characters');
  end if;
  if not is_hook and coalesce(set_trigger.outcome, '') not in ('done', 'failed', 'always') then
    perform weir._invalid('outcome', 'done, failed or always');
  end if;
  perform weir._check(weir._bad_text('condition', set_trigger.condition, 4096),
    weir._bad_text('params', set_trigger.params::text, 65536), weir._bad_text('by', set_trigger.by, 500));
  if jsonb_typeof(set_trigger.params) <> 'object' then
    perform weir._invalid('params', 'expected a JSON object, got %s',
      jsonb_build_array(jsonb_typeof(set_trigger.params)));
  end if;
  lock table weir.triggers in share row exclusive mode;
  foreach missing in array array_remove(array[coalesce(set_trigger.workflow, ''), set_trigger.after], null) loop
    if not exists (select from weir._definition d where d.name = missing and d.kept) then
      perform weir._invalid(case when missing = coalesce(set_trigger.workflow, '') then 'workflow' else 'after' end,
        'there is no workflow %L', jsonb_build_array(missing), hint => 'put its definition first');
    end if;
  end loop;
  select g.* into was from weir.triggers g where g.name = set_trigger.name;
  perform weir._refuse_stale_edit('trigger', set_trigger.name, set_trigger.seen, was.changed_at);
  if is_hook <> (was.kind = 'webhook') then
    perform weir._conflict('trigger %L is of another kind', jsonb_build_array(was.name),
      hint => 'drop it, or choose another name');
  end if;
  ring := weir._trigger_ring(set_trigger.name, set_trigger.after, set_trigger.workflow);
  if ring is not null then
    perform weir._invalid('after', 'it would run for ever: %s', jsonb_build_array(array_to_string(ring, ' → ')),
      hint => 'a workflow cannot be started by what it starts');
  end if;
  insert into weir.triggers as g (name, kind, workflow, after, outcome, condition, params, paused, changed_at)
  values (set_trigger.name, case when is_hook then 'webhook' else 'after' end, set_trigger.workflow,
    set_trigger.after, wanted,
    set_trigger.condition, set_trigger.params, set_trigger.paused, t)
  on conflict (name) do update set workflow = excluded.workflow, after = excluded.after, outcome = excluded.outcome,
    condition = excluded.condition, params = excluded.params, paused = excluded.paused, changed_at = t
  where (g.workflow, g.after, g.outcome, g.condition, g.params, g.paused)
    is distinct from (excluded.workflow, excluded.after, excluded.outcome, excluded.condition, excluded.params,
      excluded.paused);
  if found then
    insert into weir.events (at, type, kind, subject, source, message)
    values (t, case
      when (was.workflow, was.after, was.outcome, was.condition, was.params)
        is distinct from (set_trigger.workflow, set_trigger.after, wanted, set_trigger.condition,
          set_trigger.params) then 'set'
      when set_trigger.paused then 'paused' else 'resumed' end, 'trigger', set_trigger.name, set_trigger.by,
      concat_ws(' after ', set_trigger.workflow, set_trigger.after));
  end if;
end $$;
comment on function weir.set_trigger is 'Creates or changes a trigger. The same call again changes nothing.';
