-- Takes the locks of lanes or pools until commit, for whoever cannot go on without them. Who has one for longer than an
-- opener does is named.
create or replace function weir._hold_keys(keys text[], lane boolean) returns void
language plpgsql
set search_path = weir, pg_temp
as $$
declare
  own int := coalesce(nullif(current_setting('weir.keys', true), '')::int, 0) + cardinality(keys);
  held record;
begin
  if own <= 64 then
    perform set_config('weir.keys', own::text, true);
  end if;
  if not weir._wait_for_keys(keys, lane, own > 64, '5s') then
    select x as key, weir._key_holder(lane, x) as holder into held from unnest(keys) x order by 2 nulls last limit 1;
    perform weir._conflict('%s %L is held by %s',
      jsonb_build_array(case when lane then 'lane' else 'pool' end, held.key,
        coalesce(weir._sentence(held.holder), 'others')),
      hint => 'let that transaction end, then try again');
  end if;
end $$;
comment on function weir._hold_keys is 'Locks keys, or says who has one.';
