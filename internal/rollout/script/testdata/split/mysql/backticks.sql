CREATE TABLE `a;b` (`c``d;` INT);
SELECT 1;