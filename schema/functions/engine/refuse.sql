-- A person decides that a held task must not run: it fails, with who said so and why. A retry asks again. names are
-- those under which the caller decides: see weir.asks.
create or replace function weir.refuse(task uuid, reason text, by text default null, names text[] default null,
  at timestamptz default null)
returns void
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(refuse.at);
begin
  perform weir._refuse_owned((select q.job from weir.tasks q where q.id = refuse.task));
  if coalesce(refuse.reason, '') = '' then
    perform weir._invalid('reason', 'say why the task must not run');
  end if;
  perform weir._check(weir._bad_text('reason', refuse.reason, 1000));
  perform weir._may_decide(refuse.task, refuse.names);
  perform weir._fail_held(refuse.task, weir._note('refused', refuse.by, refuse.reason), refuse.by, t);
end $$;
comment on function weir.refuse is 'Ends a held task as failed: a person decided that it must not run.';
