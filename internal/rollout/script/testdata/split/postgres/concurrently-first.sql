drop index concurrently a.i;
reindex index concurrently j;
select 1;