select 1;
select 'aÿ';