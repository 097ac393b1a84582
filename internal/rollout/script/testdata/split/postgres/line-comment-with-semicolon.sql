select 1 -- not; the end
, 2;
select 3;