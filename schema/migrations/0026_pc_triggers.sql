-- What the mode of a node and the end of a worker mean for a PC is decided by the fleet, not by functions of the
-- engine.
-- +goose Up

-- Their bodies are in schema/functions; a trigger needs a function to be there.
-- +goose StatementBegin
create function weir._pc_resumed() returns trigger language plpgsql as $$ begin return null; end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create function weir._pc_left() returns trigger language plpgsql as $$ begin return null; end $$;
-- +goose StatementEnd
create trigger pc_resumed after update of mode on weir.nodes for each row when (new.mode = 'active')
  execute function weir._pc_resumed();
create trigger pc_left after update of stopped_at on weir.workers for each row
  when (new.stopped_at is not null and new.node is not null) execute function weir._pc_left();
