create table orders (
  id bigint generated always as identity primary key,
  customer bigint not null references customers,
  total numeric(12, 2) not null check (total >= 0),
  placed_at timestamptz not null default now()
);
insert into customers (email) values ('first@example.org');
