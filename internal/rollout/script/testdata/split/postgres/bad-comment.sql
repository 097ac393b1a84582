select 1;
/* open /* nested */
select 2;