select 1;
\c other
select 2;