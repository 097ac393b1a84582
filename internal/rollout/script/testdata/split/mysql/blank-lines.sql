

  

SELECT 1;
   

DELIMITER //


SELECT 2//
