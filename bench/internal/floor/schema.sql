create function uuid7() returns uuid language sql volatile as $$
	select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
		placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
		from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$$;

create table task (
	id           uuid primary key default uuid7(),
	class        int not null,
	max_attempts smallint not null default 3,
	params       jsonb not null default '{}',
	created_at   timestamptz not null default now()
);

create sequence order_seq;

create table available (
	class     int not null,
	priority  int not null,
	order_seq bigint not null,
	id        uuid not null,
	attempt   smallint not null default 0,
	primary key (class, priority, order_seq, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

create table running (
	id       uuid primary key,
	attempt  smallint not null,
	token    uuid not null,
	worker   text not null,
	until    timestamptz not null,
	deadline timestamptz
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

create table finished (
	id      uuid primary key,
	outcome smallint not null,
	attempt smallint not null,
	result  jsonb,
	error   text,
	at      timestamptz not null default now()
);

create table event (
	seq     bigint generated always as identity,
	at      timestamptz not null default now(),
	xid     xid8 not null default pg_current_xact_id(),
	task    uuid not null,
	type    smallint not null,
	attempt smallint,
	source  text,
	data    jsonb
);
create index on event using brin (seq) with (pages_per_range = 16);
