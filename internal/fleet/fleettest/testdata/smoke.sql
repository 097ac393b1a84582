insert into fleet.tasks (name, payload) values ('smoke', '{"hello": "device"}');
