INSERT INTO `tűrő` VALUES ('árvíz; 漢字');
  SELECT 2;