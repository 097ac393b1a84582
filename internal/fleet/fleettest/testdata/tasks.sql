-- Two tasks for all devices. a2 fails the first one for good, and cannot serve the second.
insert into fleet.tasks (name, payload, config) values
  ('smoke', '{"breaks": "a2"}', '{"backoff": "0s"}'),
  ('patrol', '{}', '{"backoff": "0s", "linger": "0s"}');
