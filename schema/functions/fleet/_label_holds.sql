-- Whether a condition holds for the labels of a device. One on a label that the device does not have does not hold,
-- and so what turns it round does: not, != and not in.
create or replace function weir._label_holds(condition text, labels jsonb) returns boolean
language plpgsql immutable parallel safe
set search_path = weir, pg_temp
as $$
declare
  c record := weir._label_condition(condition);
  has text := labels ->> c.key;
  holds boolean;
begin
  holds := case c.op when 'has' then has is not null when 'in' then has = any (c.list)
    when '=' then weir._label_compare(has, c.list[1]) = 0 when '!=' then weir._label_compare(has, c.list[1]) = 0
    when '>=' then weir._label_compare(has, c.list[1]) >= 0 when '>' then weir._label_compare(has, c.list[1]) > 0
    when '<=' then weir._label_compare(has, c.list[1]) <= 0 when '<' then weir._label_compare(has, c.list[1]) < 0 end;
  return (has is not null and coalesce(holds, false)) <> (c.turned <> (c.op = '!='));
end $$;
comment on function weir._label_holds is 'Does a condition hold for labels?';
