create rule r as on insert to t do also (insert into a values (1); insert into b values (2));
select 1;