-- Gives a webhook the name of a new secret. The one before is accepted for as long as overlap says; the one before that
-- is deleted. With fresh, it is changed only if the trigger has no secret yet: null says that it has.
create or replace function weir.workflow_hook_secret(trigger text, secret text, overlap interval, fresh boolean,
  by text default null, at timestamptz default null)
returns timestamptz
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(workflow_hook_secret.at);
  was weir.triggers;
begin
  select g.* into was from weir.triggers g where g.name = workflow_hook_secret.trigger for update;
  if not found then
    perform weir._not_found('trigger', workflow_hook_secret.trigger);
  end if;
  if was.kind <> 'webhook' then
    perform weir._conflict('trigger %L is no webhook', jsonb_build_array(was.name));
  end if;
  if workflow_hook_secret.fresh and was.secret is not null then
    return null;
  end if;
  perform weir.drop_secret(s.name, by => workflow_hook_secret.by) from weir.secrets s where s.name = was.secret_before;
  update weir.triggers g set secret = workflow_hook_secret.secret, secret_before = was.secret,
    before_until = case when was.secret is not null then t + workflow_hook_secret.overlap end, changed_at = t
  where g.name = was.name;
  insert into weir.events (at, type, kind, subject, source)
  values (t, case when was.secret is null then 'secret_made' else 'secret_rotated' end, 'trigger', was.name,
    workflow_hook_secret.by);
  return t + workflow_hook_secret.overlap;
end $$;
comment on function weir.workflow_hook_secret is 'Gives a webhook a new secret, beside the one before for a while.';
