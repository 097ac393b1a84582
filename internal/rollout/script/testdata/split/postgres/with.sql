with moved as (delete from a where x < 1 returning *) insert into b select * from moved;
with recursive r as (select 1) select * from r, c;