INSERT INTO t VALUES ('a;b', "c;d", 'it''s;', 'e\';f', "g\";h", `i;j`);
SELECT 2;