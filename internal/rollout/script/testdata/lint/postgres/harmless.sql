create table t (id bigint generated always as identity primary key, x int references t (id), unique (x));
create index i on t (x);
alter table big add column note text;
alter table big add column flag boolean not null default false;
alter table big alter column note set default 'x';
alter table big set (fillfactor = 80);
insert into t (x) values (1);
comment on table big is 'x';
grant select on big to reader;
