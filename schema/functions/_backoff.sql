-- How long to wait before the next attempt: full jitter between zero and base * 2^(spent - 1), at most cap.
create or replace function weir._backoff(spent int, base interval, cap interval, luck double precision default random()) returns interval
language sql volatile parallel safe
as $$
  select least(coalesce(base, '15 s') * power(2, least(greatest(spent, 1) - 1, 40)), coalesce(cap, '15 min')) * luck
$$;
comment on function weir._backoff is 'Delay before the next attempt. Defaults: base 15 s, cap 15 min.';
