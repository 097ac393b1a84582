-- A gate for tasks whose form depends on what their needs gave. Alone, for a new value of a type may not be used in the
-- transaction that adds it.
-- +goose Up

alter type weir.gate add value 'plan' after 'needs';
