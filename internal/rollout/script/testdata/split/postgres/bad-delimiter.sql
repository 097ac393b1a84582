DELIMITER //
select 1//
