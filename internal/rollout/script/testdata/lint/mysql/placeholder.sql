insert into settings values ('env', '${env}');
