SELECT 1 -- a; b
, 2 # c; d
, 3 /* e; f */;
SELECT 5--1;
SELECT 6 --
;