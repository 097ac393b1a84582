-- The names and words of the workflow core that Weir took over, for dashboards and schedulers that were written for it.
-- Its views are views/flow_*.sql.
-- +goose Up

create schema if not exists flow;

-- Whoever inserts a job there writes nextval('flow.order_seq'). One counter orders all work, and it is weir.order_seq:
-- a number of this one, far above any other, only says "the next", and flow.jobs puts the real one in its place.
create sequence if not exists flow.order_seq minvalue 4611686018427387904;

-- What flow.jobs is asked by: its number, and its status.
create index on weir.jobs (order_seq);
create index on weir.job_finished ((case when outcome = 'done' then 'done' else 'error' end));

-- What the node had claimed when weir._sleepy last looked: if it is something else now, the node was busy meanwhile.
alter table weir.nodes add column busy_mark text;
