-- The agent of a PC does not take up a forward, and says why. False: it is none of this PC that waits.
create or replace function weir.forward_refuse(id uuid, pc text, why text) returns boolean
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  perform weir._check(weir._bad_text('why', forward_refuse.why, 500));
  update weir.forwards f set refused = coalesce(nullif(weir._text(forward_refuse.why), ''), 'it does not say why')
  where f.id = forward_refuse.id and f.joined_at is null and f.refused is null
    and f.node = (select x.id from weir.nodes x where x.name = forward_refuse.pc);
  if not found then
    return false;
  end if;
  perform pg_notify('weir_forward', forward_refuse.id::text);
  return true;
end $$;
comment on function weir.forward_refuse is 'An agent does not take up a forward.';
