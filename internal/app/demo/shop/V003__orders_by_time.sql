-- Outside a transaction: nobody who writes orders waits for it.
create index concurrently orders_placed_at on orders (placed_at);
