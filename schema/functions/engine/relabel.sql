-- Changes the labels that a waiting task asks of its worker, so that others may take it: what waited too long for the
-- best node runs on any that can.
create or replace function weir.relabel(task uuid, labels jsonb, by text default null, at timestamptz default null)
returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(relabel.at);
begin
  perform weir._check_labels(coalesce(relabel.labels, 'null'));
  if not weir._reclass(relabel.task, null, relabel.labels, 'relabeled', relabel.by, t) then
    return false;
  end if;
  perform pg_notify('weir_available', '');
  return true;
end $$;
comment on function weir.relabel is 'Changes the labels of a waiting task. False: it does not wait any more.';
