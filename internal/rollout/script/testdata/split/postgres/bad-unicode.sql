select 'árvíz';
select tűrő ( ;