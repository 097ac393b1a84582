-- The key of the lock under which a job of a lane becomes active (class 89; 1 is the leader's pass). The default lane
-- has 0. Lanes with one hash share a lock, which does no harm.
create or replace function weir._fleet_lane_key(lane text) returns int
language sql immutable parallel safe
as $$ select case when lane = 'default' then 0 else 2 + (hashtext(lane) & 1073741823) end $$;
comment on function weir._fleet_lane_key is 'The lock of a lane of fleet jobs.';
