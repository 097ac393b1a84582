-- Who holds a lane now: what runs, what may start, and what has passed the lane and waits for its pool.
create or replace view weir._lane_holder as
select r.lane, r.task, r.rank, r.exclusive, 'running' as state, r.claimed_at as since, r.opened_at from weir.running r
where r.lane is not null
union all
select a.lane, a.task, a.rank, a.exclusive, 'available', a.opened_at, a.opened_at from weir.available a
where a.lane is not null
union all
select p.lane, p.task, p.rank, p.exclusive, 'waiting for pool ' || p.pool, p.since, p.since from weir.pending p
where p.gate = 'pool' and p.lane is not null;
comment on view weir._lane_holder is 'Holders of lanes.';
