-- How long to wait before the next attempt: full jitter between zero and base * 2^(spent - 1), at most cap. In seconds
-- as a floating-point number, because an interval overflows at the 41st attempt.
create or replace function weir._backoff(spent int, base interval, cap interval, luck double precision default random())
returns interval
language sql volatile parallel safe
as $$
  select make_interval(secs => luck * least(
    extract(epoch from coalesce(base, '15 s'))::double precision * power(2, least(greatest(spent, 1) - 1, 60)),
      extract(epoch from coalesce(cap, '15 min'))::double precision))
$$;
comment on function weir._backoff is 'Delay before the next attempt. Defaults: base 15 s, cap 15 min.';
