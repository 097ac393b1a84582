-- Triggers: what starts runs of a workflow besides a time. A firing is one occasion and what came of it.
-- +goose Up

create table weir.triggers (
  name          text collate "C" primary key,
  kind          text not null check (kind in ('after', 'webhook')),
  workflow      text collate "C" not null,
  after         text collate "C",
  outcome       text check (outcome in ('done', 'failed', 'always')),
  condition     text,
  params        jsonb,
  paused        boolean not null default false,
  secret        text,
  secret_before text,
  before_until  timestamptz,
  changed_at    timestamptz not null,
  last_at       timestamptz,
  last_job      uuid,
  constraint triggers_what check ((kind = 'after') = (after is not null) and (kind = 'after') = (outcome is not null))
);
comment on column weir.triggers.workflow is 'The workflow that it runs, in its newest active version.';
comment on column weir.triggers.after is 'The workflow whose runs it follows.';
comment on column weir.triggers.outcome is 'How a run must have ended.';
comment on column weir.triggers.condition is 'An expression over what fires it. Null: it always holds.';
comment on column weir.triggers.params is 'The params of the run, with templates.';
comment on column weir.triggers.secret is 'The name of the secret that deliveries are signed with.';
comment on column weir.triggers.secret_before is 'The secret before that one, which is accepted until before_until.';
create index triggers_after on weir.triggers (after) where after is not null;
create index triggers_workflow on weir.triggers (workflow);

create table weir.firings (
  trigger text collate "C" not null,
  key     text collate "C" not null,
  at      timestamptz not null,
  source  uuid,
  state   text not null check (state in ('pending', 'started', 'ignored', 'failed')),
  reason  jsonb,
  job     uuid,
  primary key (trigger, key)
);
comment on column weir.firings.key is 'What makes it one: the job that ended, or the id of the delivery.';
comment on column weir.firings.source is 'The job that ended.';
comment on column weir.firings.reason is 'Why it started nothing: a code with arguments.';
comment on column weir.firings.job is 'The job that it started.';
create index firings_pending on weir.firings (at) where state = 'pending';
create index firings_at on weir.firings (trigger, at desc, key desc);
create index firings_source on weir.firings (source) where source is not null;

-- The functions are in schema/functions/flow.
-- +goose StatementBegin
create function weir._run_ended() returns trigger language plpgsql as $$ begin return null; end $$;
-- +goose StatementEnd
create constraint trigger run_ended after delete on weir.job_live deferrable initially deferred for each row
  when (old.definition is not null) execute function weir._run_ended();
