alter table big rename to large;
alter table big rename column a to b;
alter table big rename constraint a to b;
alter index i rename to j;
alter table big set schema other;
alter type mood rename value 'a' to 'b';
alter schema a rename to b;
