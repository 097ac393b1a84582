create or replace procedure p() language plpgsql as $body$ begin commit; end $body$;
call p();