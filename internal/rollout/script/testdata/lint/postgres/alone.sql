create index concurrently i on big (x);
