-- first
-- second

select 1;

-- about two
select 2;