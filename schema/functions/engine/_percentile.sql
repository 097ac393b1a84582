-- Between two samples it is in proportion. Null: there are no samples.
create or replace function weir._percentile(samples real[], p float8) returns real
language sql immutable parallel safe
as $$ select percentile_cont(p) within group (order by s) from unnest(samples) s $$;
comment on function weir._percentile is 'The p-th part of the samples is not above this.';
