-- A worker says that a task it was asked to cancel has stopped.
create or replace function weir.confirm_cancel(task uuid, attempt int, token uuid, note text default null,
  hint boolean default true, at timestamptz default null)
returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(confirm_cancel.at);
  r weir.running;
begin
  delete from weir.running x
  where x.task = confirm_cancel.task and x.attempt = confirm_cancel.attempt and x.token = confirm_cancel.token
    and x.cancel_at is not null
  returning * into r;
  if not found then
    if exists (select from weir.running x
      where x.task = confirm_cancel.task and x.attempt = confirm_cancel.attempt and x.token = confirm_cancel.token) then
      perform weir._conflict('nobody asked to cancel task %s', jsonb_build_array(confirm_cancel.task),
        hint => 'call weir.cancel first, or weir.fail');
    end if;
    return (select refusal
      from weir._refuse('confirm_cancel', array[confirm_cancel.task], array[confirm_cancel.attempt],
        array[confirm_cancel.token], null, null, t));
  end if;
  perform weir._left_pool(r.pool);
  perform weir._close(array[weir._finished_lease(r, 'canceled', coalesce(r.cancel_note, confirm_cancel.note), t)]);
  perform weir._after_end(array[r.task], array_remove(array[r.lane], null), array_remove(array[r.pool], null), t, hint);
  return 'ok';
end $$;
comment on function weir.confirm_cancel is 'Ends a leased task as canceled after somebody asked for it.';
