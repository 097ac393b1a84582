update big set x = 1;
delete from big;
update big set x = 1 where y = 2;
delete from small;
lock table big in access exclusive mode;
lock table big in access share mode;
insert into big select * from other;
