-- Where the tasks of a job are that have not ended: how many in each place, the first of them, and since when.
create or replace function weir._job_places(of_job uuid)
returns table (place text, nth int, n bigint, task uuid, name text, since timestamptz)
language sql stable
set search_path = weir, pg_temp
as $$
  select x.place, array_position(array['running', 'available'] || enum_range(null::weir.gate)::text[], x.place),
    count(*), (array_agg(x.id order by x.position))[1], (array_agg(coalesce(x.key, x.id::text) order by x.position))[1],
      min(x.since)
  from (
    select q.id, q.key, q.position, coalesce(p.gate::text, case when r.task is not null then 'running'
      else 'available' end) as place,
      coalesce(p.since, r.claimed_at, a.opened_at, weir._id_time(q.id)) as since
    from weir.tasks q
    left join lateral (select * from weir.pending p where p.task = q.id offset 0) p on true
    left join lateral (select * from weir.running r where r.task = q.id offset 0) r on true
    left join lateral (select * from weir.available a
      where a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position offset 0) a on true
    where q.job = of_job and (p.task is not null or r.task is not null or a.task is not null)
  ) x
  group by x.place
$$;
comment on function weir._job_places is 'How many tasks of a job stand where.';
