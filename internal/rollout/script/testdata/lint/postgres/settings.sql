-- weir: statement_timeout=unlimited
set lock_timeout = 0;
set statement_timeout = '1h';
set search_path = a;
-- weir: transaction=off
select 1;
