alter table big add column a int;
insert into log values ('started');
update big set a = 1 where id < 100;
delete from other where id = 1;
