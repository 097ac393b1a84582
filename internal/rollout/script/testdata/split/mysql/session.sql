SET foreign_key_checks = 0;
USE other;
ALTER TABLE t ADD c INT;
SET GLOBAL max_connections = 5;
CREATE TEMPORARY TABLE z (x INT);