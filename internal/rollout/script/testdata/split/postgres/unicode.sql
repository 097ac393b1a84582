insert into "tűrő" values ('árvíz; 漢字');
  select 2;