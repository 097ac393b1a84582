-- The schema that migrations, functions, views and grants make, as the catalogue tells it. Not to be run.
-- Written by: go test ./schema -run Golden -rewrite

-- Types
enum gate: needs, plan, time, hold, lane, pool
enum rule: all_success, all_done, one_failed, finally
enum state: pending, available, running, done, failed, canceled, skipped
type task_spec
  service text
  params jsonb
  key text
  needs text[]
  rule weir.rule
  priority integer
  labels jsonb
  run_at timestamp with time zone
  hold text
  lane text
  rank bigint
  exclusive boolean
  pool text
  max_attempts integer
  timeout interval
  backoff interval
  backoff_cap interval
  orphan text
  idempotency_key text
  unique_key text
  trace text
  plan boolean
  run jsonb

-- States
nothing -gated-> pending
nothing -submitted-> available
pending -canceled-> canceled
pending -done-> done
pending -failed-> failed
pending -held-> pending
pending -opened-> available
pending -skipped-> skipped
available -canceled-> canceled
available -claimed-> running
available -done-> done
available -failed-> failed
available -held-> pending
available -skipped-> skipped
running -canceled-> canceled
running -done-> done
running -expired-> available
running -failed-> failed
running -retrying-> pending
running -returned-> available
running -snoozed-> pending
done -retried-> pending
failed -retried-> pending
failed -skipped-> skipped
canceled -retried-> pending
skipped -retried-> pending

-- Tables
table artifacts
  id bigint not null identity
  job uuid
  task uuid not null
  attempt smallint not null
  kind text not null
  name text not null
  bucket text not null
  key text not null
  size bigint not null
  content_type text not null
  sha256 text
  at timestamp with time zone not null
  constraint UNIQUE (task, attempt, kind, name)
  constraint PRIMARY KEY (id)
  constraint CHECK ((kind = ANY (ARRAY['input'::text, 'output'::text, 'log'::text])))
  constraint CHECK ((size >= 0))
  index artifacts_job_idx btree (job) WHERE (job IS NOT NULL)
table asks
  task uuid not null
  job uuid not null
  event text
  deciders text[]
  expires interval
  late text not null default 'fail'::text
  open boolean not null default true
  constraint PRIMARY KEY (task)
  constraint CHECK ((expires > '00:00:00'::interval))
  constraint CHECK ((late = ANY (ARRAY['fail'::text, 'release'::text])))
  index asks_event btree (job, event) WHERE (event IS NOT NULL)
  index asks_open btree (task) WHERE open
table available with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, autovacuum_vacuum_cost_delay=0)
  order_seq bigint not null
  task uuid not null
  class integer not null
  position smallint not null
  attempt smallint not null
  opened_at timestamp with time zone
  lane text
  pool text
  rank bigint
  exclusive boolean
  constraint PRIMARY KEY (class, order_seq, "position")
  index available_lane btree (lane, rank) WHERE (lane IS NOT NULL)
  index available_pool btree (pool) WHERE (pool IS NOT NULL)
table changes
  checksum text not null
  sql text not null
  constraint PRIMARY KEY (checksum)
table class_moves with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, autovacuum_vacuum_cost_delay=0)
  class integer not null
  xid bigint not null
  low bigint not null
  index class_moves_class btree (class, xid)
table classes with (fillfactor=50)
  id integer not null identity
  service text not null
  priority smallint not null
  labels jsonb not null
  floor bigint not null default 0
  opened_mark bigint not null default 0
  opened_floor bigint not null default 0
  constraint UNIQUE (service, priority, labels)
  constraint PRIMARY KEY (id)
table cluster
  one boolean not null default true
  identity bigint
  since_xid bigint not null default 0
  since_seq bigint not null default 0
  ordered_seq bigint not null default 0
  constraint PRIMARY KEY (one)
  constraint CHECK (one)
table databases with (fillfactor=70)
  name text not null
  engine text not null
  environment text not null
  labels jsonb not null default '{}'::jsonb
  secret text not null
  note text
  identity text
  server text
  version text
  version_rank bigint
  checked_at timestamp with time zone
  fault text
  by text
  created_at timestamp with time zone not null
  changed_at timestamp with time zone not null
  constraint PRIMARY KEY (name)
  constraint CHECK ((engine = ANY (ARRAY['postgres'::text, 'mysql'::text])))
table device_spans
  device integer not null
  since timestamp with time zone not null
  until timestamp with time zone
  state text not null
  node integer
  constraint PRIMARY KEY (device, since)
  constraint FOREIGN KEY (device) REFERENCES weir.devices(id) ON DELETE CASCADE
  index device_spans_open UNIQUE btree (device) WHERE (until IS NULL)
  index device_spans_until btree (until) WHERE (until IS NOT NULL)
table devices with (fillfactor=70)
  id integer not null identity
  serial text not null
  node integer
  hub text
  target text
  labels jsonb not null default '{}'::jsonb
  online boolean not null
  online_at timestamp with time zone not null
  missing_at timestamp with time zone
  health text not null default 'unknown'::text
  health_at timestamp with time zone not null
  health_note text
  health_by text
  health_job uuid
  evidence uuid[] not null default '{}'::uuid[]
  checks smallint not null default 0
  check_at timestamp with time zone
  registered_at timestamp with time zone not null
  absent_at timestamp with time zone
  flaps integer not null default 0
  flaps_at timestamp with time zone
  health_until timestamp with time zone
  reserved_by text
  reserved_at timestamp with time zone
  reserved_until timestamp with time zone
  reserved_note text
  constraint UNIQUE (serial)
  constraint PRIMARY KEY (id)
  constraint FOREIGN KEY (node) REFERENCES weir.nodes(id) ON DELETE SET NULL
  constraint CHECK ((((reserved_by IS NULL) = (reserved_until IS NULL)) AND ((reserved_by IS NULL) = (reserved_at IS NULL))))
  constraint CHECK ((health = ANY (ARRAY['good'::text, 'unknown'::text, 'suspect'::text, 'quarantined'::text, 'maintenance'::text, 'retired'::text])))
  index devices_health_until btree (health_until) WHERE (health_until IS NOT NULL)
  index devices_missing btree (missing_at) WHERE (missing_at IS NOT NULL)
  index devices_node btree (node)
  index devices_reserved_until btree (reserved_until) WHERE (reserved_until IS NOT NULL)
table edges
  need uuid not null
  task uuid not null
  constraint PRIMARY KEY (need, task)
  index edges_task_idx btree (task)
table events partition by RANGE (at)
  seq bigint not null default nextval('weir.event_seq'::regclass)
  xid bigint not null default weir._event_xid()
  at timestamp with time zone not null
  worker integer
  attempt smallint
  type text not null
  kind text
  subject text
  job uuid
  task uuid
  tasks uuid[]
  source text
  level text
  message text
  data jsonb
  index events_at_idx brin (at) WITH (pages_per_range='16', autosummarize='on')
  index events_job_seq_idx btree (job, seq) WHERE (job IS NOT NULL)
  index events_kind_subject_seq_idx btree (kind, subject, seq) WHERE (kind IS NOT NULL)
  index events_level_xid_seq_idx btree (level, xid, seq) WHERE (level IS NOT NULL)
  index events_task_seq_idx btree (task, seq) WHERE (task IS NOT NULL)
  index events_xid_seq_idx btree (xid, seq)
table events_default default of weir.events with (autovacuum_vacuum_insert_threshold=-1)
table exports
  partition text not null
  location text not null
  rows bigint not null
  exported_at timestamp with time zone not null
  constraint PRIMARY KEY (partition)
table finished partition by RANGE (task)
  task uuid not null
  at timestamp with time zone not null
  started_at timestamp with time zone
  worker integer
  attempt smallint not null
  outcome weir.state not null
  passes boolean
  opened_at timestamp with time zone
  result jsonb
  cause text
  constraint PRIMARY KEY (task)
  constraint CHECK ((outcome = ANY (ARRAY['done'::weir.state, 'failed'::weir.state, 'canceled'::weir.state, 'skipped'::weir.state])))
  index finished_outcome_task_idx btree (outcome, task) WHERE (outcome <> 'done'::weir.state)
table finished_default default of weir.finished with (autovacuum_vacuum_insert_threshold=-1)
table firings
  trigger text not null
  key text not null
  at timestamp with time zone not null
  source uuid
  state text not null
  reason jsonb
  job uuid
  constraint PRIMARY KEY (trigger, key)
  constraint CHECK ((state = ANY (ARRAY['pending'::text, 'started'::text, 'ignored'::text, 'failed'::text])))
  index firings_at btree (trigger, at DESC, key DESC)
  index firings_pending btree (at) WHERE (state = 'pending'::text)
  index firings_source btree (source) WHERE (source IS NOT NULL)
table fleet_jobs with (fillfactor=50)
  job uuid not null
  order_seq bigint not null
  priority smallint not null
  state text not null default 'waiting'::text
  spec jsonb not null
  by text
  max_attempts smallint not null
  timeout interval not null
  backoff interval not null
  infra_attempts smallint not null
  place text not null
  breaker integer not null
  linger interval not null
  joins boolean not null
  created_at timestamp with time zone not null
  planned_at timestamp with time zone
  activated_at timestamp with time zone
  ended_at timestamp with time zone
  lingers_at timestamp with time zone
  targeted integer not null default 0
  missed integer not null default 0
  stopped text
  lane text not null default 'default'::text
  missed_at timestamp with time zone
  constraint PRIMARY KEY (job)
  constraint CHECK ((place = ANY (ARRAY['same'::text, 'other_device'::text, 'other_pc'::text])))
  constraint CHECK ((state = ANY (ARRAY['waiting'::text, 'active'::text, 'ended'::text])))
  index fleet_active UNIQUE btree (lane) WHERE (state = 'active'::text)
  index fleet_jobs_created btree (created_at)
  index fleet_jobs_lane btree (lane, priority DESC, order_seq) WHERE (state = 'waiting'::text)
  index fleet_jobs_waiting btree (priority DESC, order_seq) WHERE (state = 'waiting'::text)
table fleet_policy
  one boolean not null default true
  policy text not null default 'evidence'::text
  health jsonb
  overlap boolean not null default false
  slots integer not null default 20
  constraint PRIMARY KEY (one)
  constraint CHECK (((slots >= 1) AND (slots <= 1000)))
  constraint CHECK ((policy = ANY (ARRAY['strict'::text, 'evidence'::text])))
  constraint CHECK (one)
table fleet_units with (fillfactor=70)
  job uuid not null
  unit integer not null
  device integer
  round smallint not null
  state text not null default 'waiting'::text
  task uuid
  excluded integer[] not null default '{}'::integer[]
  infra smallint not null default 0
  good boolean
  cause text
  harmless boolean
  unclean text
  constraint PRIMARY KEY (job, unit)
  constraint CHECK (((state = ANY (ARRAY['running'::text, 'retrying'::text, 'done'::text, 'failed'::text])) <= (task IS NOT NULL)))
  constraint CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'retrying'::text, 'done'::text, 'failed'::text, 'missed'::text, 'canceled'::text])))
  index fleet_units_device btree (device, job) WHERE (device IS NOT NULL)
  index fleet_units_failed btree (job) WHERE (state = 'failed'::text)
  index fleet_units_live btree (job, state) WHERE (state = ANY (ARRAY['waiting'::text, 'running'::text, 'retrying'::text]))
  index fleet_units_open btree (job, unit) WHERE ((device IS NULL) AND (state = ANY (ARRAY['waiting'::text, 'retrying'::text])))
  index fleet_units_retrying btree (device) WHERE (state = 'retrying'::text)
  index fleet_units_task UNIQUE btree (task) WHERE (task IS NOT NULL)
  index fleet_units_waiting btree (device, job, unit) WHERE (state = 'waiting'::text)
table forgiven
  task uuid not null
  crashes integer not null default 0
  returns integer not null default 0
  strikes integer not null default 0
  places integer[] not null default '{}'::integer[]
  faults integer not null default 0
  constraint PRIMARY KEY (task)
table forwards
  id uuid not null
  device integer not null
  node integer not null
  port integer not null
  person text not null
  source text not null
  forced boolean not null default false
  server text
  opened_at timestamp with time zone not null
  seen_at timestamp with time zone not null
  joined_at timestamp with time zone
  refused text
  constraint PRIMARY KEY (id)
  constraint FOREIGN KEY (device) REFERENCES weir.devices(id) ON DELETE CASCADE
  constraint FOREIGN KEY (node) REFERENCES weir.nodes(id) ON DELETE CASCADE
  constraint CHECK (((port >= 1) AND (port <= 65535)))
  index forwards_device btree (device)
  index forwards_node btree (node)
table given_ids
  given uuid not null
  job uuid not null
  constraint UNIQUE (job)
  constraint PRIMARY KEY (given)
table horizon
  one boolean not null default true
  xid bigint not null
  order_seq bigint not null
  constraint PRIMARY KEY (one)
  constraint CHECK (one)
table idempotency
  key text not null
  job boolean not null
  id uuid not null
  body bytea
  constraint PRIMARY KEY (key, job)
table job_finished partition by RANGE (job)
  job uuid not null
  at timestamp with time zone not null
  outcome weir.state not null
  done integer not null
  failed integer not null
  canceled integer not null
  skipped integer not null
  cause text
  constraint PRIMARY KEY (job)
  constraint CHECK ((outcome = ANY (ARRAY['done'::weir.state, 'failed'::weir.state, 'canceled'::weir.state])))
  index job_finished_case_idx btree ((
CASE
    WHEN (outcome = 'done'::weir.state) THEN 'done'::text
    ELSE 'error'::text
END))
  index job_finished_outcome_job_idx btree (outcome, job) WHERE (outcome <> 'done'::weir.state)
table job_finished_default default of weir.job_finished with (autovacuum_vacuum_insert_threshold=-1)
table job_live with (fillfactor=50)
  job uuid not null
  total integer not null
  done integer not null default 0
  failed integer not null default 0
  canceled integer not null default 0
  skipped integer not null default 0
  cause text
  cancel_at timestamp with time zone
  due timestamp with time zone
  note text
  definition uuid
  schedule text
  parent uuid
  watched boolean
  fleet boolean
  stop_at timestamp with time zone
  constraint PRIMARY KEY (job)
  index job_live_definition btree (definition) WHERE (definition IS NOT NULL)
  index job_live_due btree (due) WHERE (due IS NOT NULL)
  index job_live_parent btree (parent) WHERE (parent IS NOT NULL)
  index job_live_queued btree (job) WHERE (due IS NOT NULL)
  index job_live_schedule btree (schedule) WHERE (schedule IS NOT NULL)
  index job_live_watched btree (job) WHERE watched
table jobs partition by RANGE (id)
  id uuid not null
  created_at timestamp with time zone not null
  order_seq bigint not null
  kind text not null
  name text not null
  priority smallint not null
  total integer not null
  params jsonb
  trace text
  definition uuid
  schedule text
  parent uuid
  origin uuid
  options jsonb
  scheduled_at timestamp with time zone
  watched boolean
  constraint PRIMARY KEY (id)
  index jobs_definition_id_idx btree (definition, id) WHERE (definition IS NOT NULL)
  index jobs_kind_id_idx btree (kind, id)
  index jobs_left_id_idx btree ("left"(name, 200) COLLATE "C", id)
  index jobs_order_seq_idx btree (order_seq)
  index jobs_origin_idx btree (origin) WHERE (origin IS NOT NULL)
  index jobs_parent_idx btree (parent) WHERE (parent IS NOT NULL)
  index jobs_schedule_id_idx btree (schedule, id) WHERE (schedule IS NOT NULL)
table jobs_default default of weir.jobs with (autovacuum_vacuum_insert_threshold=-1)
table joins
  hash bytea not null
  id uuid not null
  node text
  made_by text not null
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  labels jsonb
  services jsonb
  constraint UNIQUE (id)
  constraint PRIMARY KEY (hash)
  constraint CHECK ((length(hash) = 32))
table lane_blocks
  lane text not null
  rank bigint not null
  task uuid not null
  at timestamp with time zone not null
  constraint PRIMARY KEY (lane, rank, task)
  index lane_blocks_task_idx btree (task)
table left_keys
  lane boolean not null
  key text not null
  at timestamp with time zone not null
  busy boolean not null
  error text
table links
  hash bytea not null
  user_id uuid
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  constraint PRIMARY KEY (hash)
  constraint FOREIGN KEY (user_id) REFERENCES weir.users(id) ON DELETE CASCADE
  constraint CHECK ((length(hash) = 32))
  index links_setup UNIQUE btree (((user_id IS NULL))) WHERE (user_id IS NULL)
  index links_user_id_idx btree (user_id) WHERE (user_id IS NOT NULL)
table login_attempts with (fillfactor=50)
  key bytea not null
  failures integer not null
  at timestamp with time zone not null
  until timestamp with time zone not null
  noted boolean not null default false
  constraint PRIMARY KEY (key)
  constraint CHECK ((failures >= 0))
  constraint CHECK ((length(key) = 32))
table minutes with (fillfactor=70)
  at timestamp with time zone not null
  submitted bigint not null default 0
  started bigint not null default 0
  done bigint not null default 0
  failed bigint not null default 0
  canceled bigint not null default 0
  expired bigint not null default 0
  refused bigint not null default 0
  wait_p50 real
  wait_p95 real
  run_p50 real
  run_p95 real
  waits real[] not null default '{}'::real[]
  runs real[] not null default '{}'::real[]
  constraint PRIMARY KEY (at)
table node_credentials with (fillfactor=70)
  node text not null
  hash bytea not null
  created_at timestamp with time zone not null
  used_at timestamp with time zone
  labels jsonb
  services jsonb
  constraint UNIQUE (hash)
  constraint PRIMARY KEY (node)
  constraint CHECK ((length(hash) = 32))
table node_faults
  node integer not null
  service text not null
  fault text not null
  message text not null
  since timestamp with time zone not null
  retry_at timestamp with time zone
  constraint PRIMARY KEY (node, service)
  constraint FOREIGN KEY (node) REFERENCES weir.nodes(id) ON DELETE CASCADE
table nodes with (fillfactor=50)
  id integer not null identity
  name text not null
  labels jsonb not null default '{}'::jsonb
  capacity jsonb not null default '{}'::jsonb
  mode text not null default 'active'::text
  note text
  mode_at timestamp with time zone
  mode_until timestamp with time zone
  registered_at timestamp with time zone not null
  seen_at timestamp with time zone not null
  wake_method text
  wake jsonb
  wake_state text not null default 'unknown'::text
  wake_at timestamp with time zone
  wake_tries integer not null default 0
  wake_note text
  sleep_after interval
  busy_at timestamp with time zone
  version text
  drivers text[]
  busy_mark text
  registered_by text
  isolation text
  constraint UNIQUE (name)
  constraint PRIMARY KEY (id)
  constraint CHECK ((mode = ANY (ARRAY['active'::text, 'draining'::text, 'paused'::text])))
  constraint CHECK ((wake_method = ANY (ARRAY['wol'::text, 'http'::text, 'script'::text])))
  constraint CHECK ((wake_state = ANY (ARRAY['unknown'::text, 'awake'::text, 'waking'::text, 'asleep'::text])))
table object_version
  version bigint not null
  hash text not null
  applied_at timestamp with time zone not null default now()
  constraint PRIMARY KEY (version)
table oidc_visits
  hash bytea not null
  expires_at timestamp with time zone not null
  constraint PRIMARY KEY (hash)
  constraint CHECK ((length(hash) = 32))
table patience
  task uuid not null
  relax interval
  labels jsonb
  fail interval
  constraint PRIMARY KEY (task)
table pcs with (fillfactor=50)
  node integer not null
  slots integer
  reported_slots integer
  reported_at timestamp with time zone not null
  paused_until timestamp with time zone
  pause_note text
  trouble text
  blind_at timestamp with time zone
  left_at timestamp with time zone
  pauses integer not null default 0
  pauses_at timestamp with time zone
  forwards int4multirange
  constraint PRIMARY KEY (node)
  constraint FOREIGN KEY (node) REFERENCES weir.nodes(id) ON DELETE CASCADE
  constraint CHECK (((reported_slots >= 1) AND (reported_slots <= 1000)))
  constraint CHECK (((slots >= 0) AND (slots <= 1000)))
table pending with (fillfactor=80, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=5000)
  task uuid not null
  order_seq bigint not null
  class integer not null
  position smallint not null
  priority smallint not null
  attempt smallint not null
  gate weir.gate not null
  since timestamp with time zone not null
  unmet integer not null default 0
  broken boolean not null default false
  rule weir.rule
  run_at timestamp with time zone
  hold text
  lane text
  rank bigint
  exclusive boolean
  pool text
  job uuid
  plan boolean
  hold_reason jsonb
  constraint PRIMARY KEY (task)
  index pending_held_lane btree (lane) WHERE ((gate = 'pool'::weir.gate) AND (lane IS NOT NULL))
  index pending_lane btree (lane, rank, priority DESC, order_seq, "position") WHERE (gate = 'lane'::weir.gate)
  index pending_plan btree (task) WHERE (gate = 'plan'::weir.gate)
  index pending_pool btree (pool, ((- (priority)::integer)), order_seq, "position") WHERE (gate = 'pool'::weir.gate)
  index pending_rank btree (lane, rank) WHERE (rank IS NOT NULL)
  index pending_time btree (run_at) WHERE (gate = 'time'::weir.gate)
table pool_moves with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, autovacuum_vacuum_cost_delay=0)
  pool text not null
  xid bigint not null
  held integer not null default 0
  priority smallint
  low bigint
  index pool_moves_pool btree (pool, xid)
table pools with (fillfactor=50)
  name text not null
  size integer
  rate integer
  per interval
  resized_at timestamp with time zone not null
  note text
  mark bigint not null default 0
  held integer
  head_priority smallint
  head bigint
  constraint PRIMARY KEY (name)
  constraint CHECK (((rate IS NULL) = (per IS NULL)))
  constraint CHECK (((size IS NOT NULL) OR (rate IS NOT NULL)))
  constraint CHECK ((per > '00:00:00'::interval))
  constraint CHECK ((rate > 0))
  constraint CHECK ((size >= 0))
table rollout_approvals
  rollout uuid not null
  stage smallint not null
  by text not null
  hash text not null
  note text
  at timestamp with time zone not null
  constraint PRIMARY KEY (rollout, stage, by)
  constraint FOREIGN KEY (rollout) REFERENCES weir.rollouts(job) ON DELETE CASCADE
table rollout_runs with (fillfactor=50)
  task uuid not null
  attempt smallint not null
  token uuid not null
  worker text
  phase text not null
  claimed_at timestamp with time zone not null
  ended_at timestamp with time zone
  unknown boolean not null default false
  code text
  note text
  resolved_by text
  resolved_at timestamp with time zone
  looks integer not null default 0
  look_at timestamp with time zone
  says text
  says_since timestamp with time zone
  stays text
  constraint PRIMARY KEY (task, attempt)
  constraint FOREIGN KEY (task) REFERENCES weir.rollout_tasks(task) ON DELETE CASCADE
  constraint CHECK ((phase = ANY (ARRAY['claimed'::text, 'locked'::text, 'sent'::text, 'applied'::text])))
  index rollout_runs_unknown btree (look_at) WHERE unknown
table rollout_stages with (fillfactor=50)
  rollout uuid not null
  n smallint not null
  name text not null
  environment text
  databases integer not null
  approvals integer not null
  manual boolean not null
  on_failure text not null
  max_failures integer not null
  canary integer not null
  promoted_at timestamp with time zone
  promoted_by text
  begun_at timestamp with time zone
  state text not null default 'not_started'::text
  waits text
  reason jsonb
  constraint UNIQUE (rollout, name)
  constraint PRIMARY KEY (rollout, n)
  constraint FOREIGN KEY (rollout) REFERENCES weir.rollouts(job) ON DELETE CASCADE
  constraint CHECK ((on_failure = ANY (ARRAY['stop'::text, 'continue'::text, 'at_most'::text])))
table rollout_tasks
  task uuid not null
  rollout uuid not null
  stage smallint not null
  database text not null
  change smallint not null
  version text
  name text not null
  kind text not null
  canary boolean not null
  constraint PRIMARY KEY (task)
  constraint FOREIGN KEY (rollout) REFERENCES weir.rollouts(job) ON DELETE CASCADE
  index rollout_tasks_database_rollout_idx btree (database, rollout)
  index rollout_tasks_rollout_stage_task_idx btree (rollout, stage, task)
table rollouts with (fillfactor=50)
  job uuid not null
  plan jsonb not null
  hash text not null
  revision integer not null
  replaces uuid
  replaced_by uuid
  warnings jsonb not null
  note text
  by text
  created_at timestamp with time zone not null
  started_at timestamp with time zone
  started_by text
  paused_at timestamp with time zone
  paused_by text
  pause_note text
  aborted_at timestamp with time zone
  aborted_by text
  abort_note text
  state text not null default 'not_started'::text
  waits text
  look_at integer not null default 0
  reason jsonb
  constraint PRIMARY KEY (job)
  constraint CHECK ((state = ANY (ARRAY['not_started'::text, 'running'::text, 'waiting'::text, 'paused'::text, 'failed'::text, 'done'::text, 'canceled'::text])))
table running with (fillfactor=80, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, autovacuum_vacuum_cost_delay=0)
  task uuid not null
  token uuid not null
  claimed_at timestamp with time zone not null
  until timestamp with time zone not null
  worker integer not null
  attempt smallint not null
  keyed boolean
  exclusive boolean
  orphan_stops boolean
  started boolean
  deadline timestamp with time zone
  opened_at timestamp with time zone
  node integer
  class integer
  job uuid
  lane text
  rank bigint
  pool text
  cancel_at timestamp with time zone
  cancel_note text
  device integer
  constraint PRIMARY KEY (task)
  index running_device UNIQUE btree (device) WHERE (device IS NOT NULL)
  index running_lane btree (lane, rank) WHERE (lane IS NOT NULL)
  index running_node btree (node) WHERE (node IS NOT NULL)
  index running_pool btree (pool) WHERE (pool IS NOT NULL)
table schedules
  name text not null
  spec text not null
  zone text not null default 'UTC'::text
  missed text not null default 'one'::text
  task jsonb
  paused boolean not null default false
  next_at timestamp with time zone not null
  last_at timestamp with time zone
  last_task uuid
  changed_at timestamp with time zone not null
  workflow text
  options jsonb
  overlap text not null default 'allow'::text
  catch_up interval
  jitter interval
  last_job uuid
  constraint PRIMARY KEY (name)
  constraint CHECK (((task IS NULL) <> (workflow IS NULL)))
  constraint CHECK ((catch_up > '00:00:00'::interval))
  constraint CHECK ((jitter >= '00:00:00'::interval))
  constraint CHECK ((missed = ANY (ARRAY['skip'::text, 'one'::text, 'all'::text])))
  constraint CHECK ((overlap = ANY (ARRAY['skip'::text, 'queue_one'::text, 'queue_all'::text, 'cancel_running'::text, 'allow'::text])))
  index schedules_next_at_idx btree (next_at) WHERE (NOT paused)
table schema_object
  file text not null
  hash text not null
  makes text[] not null
  applied_at timestamp with time zone not null default now()
  retired_at timestamp with time zone
  constraint PRIMARY KEY (file)
table schema_version
  version bigint not null
  name text not null
  breaking boolean not null
  applied_at timestamp with time zone not null default now()
  constraint PRIMARY KEY (version)
table secrets
  name text not null
  sealed bytea not null
  key_id text not null
  version integer not null default 1
  by text
  note text
  created_at timestamp with time zone not null
  changed_at timestamp with time zone not null
  constraint PRIMARY KEY (name)
  constraint CHECK ((name ~ '^[A-Za-z_][A-Za-z0-9_]{0,99}$'::text))
table sessions with (fillfactor=70)
  hash bytea not null
  id uuid not null
  user_id uuid not null
  method text not null
  created_at timestamp with time zone not null
  seen_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  address text
  agent text
  constraint UNIQUE (id)
  constraint PRIMARY KEY (hash)
  constraint FOREIGN KEY (user_id) REFERENCES weir.users(id) ON DELETE CASCADE
  constraint CHECK ((length(hash) = 32))
  constraint CHECK ((method = ANY (ARRAY['password'::text, 'link'::text, 'oidc'::text])))
  index sessions_user_id_idx btree (user_id)
table set_aside
  task uuid not null
  doing text not null
  error text not null
  since timestamp with time zone not null
  tries integer not null
  next_at timestamp with time zone not null
  constraint PRIMARY KEY (task)
  constraint CHECK ((doing = ANY (ARRAY['expire'::text, 'due'::text, 'open'::text, 'settle'::text])))
table signals
  job uuid not null
  event text not null
  payload jsonb
  by text
  at timestamp with time zone not null
  constraint PRIMARY KEY (job, event)
table snapshots
  database text not null
  at timestamp with time zone not null
  hash text not null
  text text not null
  by text
  drifted boolean not null default false
  mixed text
  constraint PRIMARY KEY (database)
  constraint FOREIGN KEY (database) REFERENCES weir.databases(name) ON DELETE CASCADE
table starts with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000)
  pool text not null
  at timestamp with time zone not null
  n integer not null
  index starts_pool btree (pool, at)
table system_locks
  lock_name text not null
  holder_id text not null
  epoch bigint not null
  acquired_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  seen_at timestamp with time zone
  constraint PRIMARY KEY (lock_name)
table tallied
  one boolean not null default true
  xid bigint not null
  seq bigint not null
  constraint PRIMARY KEY (one)
  constraint CHECK (one)
table tasks partition by RANGE (id)
  id uuid not null
  order_seq bigint not null
  class integer not null
  position smallint not null
  max_attempts smallint
  job uuid
  key text
  params jsonb not null
  run_at timestamp with time zone
  hold text
  lane text
  rank bigint
  exclusive boolean
  pool text
  timeout interval
  backoff interval
  backoff_cap interval
  orphan_stops boolean
  rule weir.rule
  needs uuid[]
  unique_key text
  trace text
  plan boolean
  run jsonb
  awaits uuid[]
  constraint PRIMARY KEY (id)
  index tasks_job_position_idx btree (job, "position") WHERE (job IS NOT NULL)
table tasks_default default of weir.tasks with (autovacuum_vacuum_insert_threshold=-1)
table test_reports
  artifact bigint not null
  job uuid not null
  task uuid not null
  attempt smallint not null
  due timestamp with time zone
  tries smallint not null default 0
  tests integer not null default 0
  failures integer not null default 0
  errors integer not null default 0
  skipped integer not null default 0
  seconds double precision not null default 0
  failed jsonb not null default '[]'::jsonb
  fault text
  constraint PRIMARY KEY (artifact)
  constraint FOREIGN KEY (artifact) REFERENCES weir.artifacts(id) ON DELETE CASCADE
  index test_reports_due btree (due) WHERE (due IS NOT NULL)
  index test_reports_job btree (job)
  index test_reports_task btree (task)
table tokens with (fillfactor=70)
  hash bytea not null
  id uuid not null
  user_id uuid not null
  name text not null
  scopes text[] not null
  created_at timestamp with time zone not null
  used_at timestamp with time zone
  expires_at timestamp with time zone not null
  constraint UNIQUE (id)
  constraint UNIQUE (user_id, name)
  constraint PRIMARY KEY (hash)
  constraint FOREIGN KEY (user_id) REFERENCES weir.users(id) ON DELETE CASCADE
  constraint CHECK (((length(name) >= 1) AND (length(name) <= 100)))
  constraint CHECK ((length(hash) = 32))
table transition
  was weir.state
  event text not null
  becomes weir.state not null
  constraint UNIQUE NULLS NOT DISTINCT (was, event)
table triggers
  name text not null
  kind text not null
  workflow text not null
  after text
  outcome text
  condition text
  params jsonb
  paused boolean not null default false
  secret text
  secret_before text
  before_until timestamp with time zone
  changed_at timestamp with time zone not null
  last_at timestamp with time zone
  last_job uuid
  constraint PRIMARY KEY (name)
  constraint CHECK ((((kind = 'after'::text) = (after IS NOT NULL)) AND ((kind = 'after'::text) = (outcome IS NOT NULL))))
  constraint CHECK ((kind = ANY (ARRAY['after'::text, 'webhook'::text])))
  constraint CHECK ((outcome = ANY (ARRAY['done'::text, 'failed'::text, 'always'::text])))
  index triggers_after btree (after) WHERE (after IS NOT NULL)
  index triggers_workflow btree (workflow)
table unique_keys
  service text not null
  key text not null
  task uuid not null
  constraint PRIMARY KEY (service, key)
  index unique_keys_task_idx btree (task)
table unsettled
  task uuid not null
  job uuid not null
  at timestamp with time zone not null
  constraint PRIMARY KEY (task)
table users
  id uuid not null
  name text not null
  email text
  role text not null
  password text
  issuer text
  subject text
  created_at timestamp with time zone not null
  login_at timestamp with time zone
  disabled_at timestamp with time zone
  constraint UNIQUE (issuer, subject)
  constraint UNIQUE (name)
  constraint PRIMARY KEY (id)
  constraint CHECK (((issuer IS NULL) = (subject IS NULL)))
  constraint CHECK ((name ~ '^[a-z0-9][a-z0-9._@+-]{0,63}$'::text))
  constraint CHECK ((password ~~ '$argon2id$%'::text))
  constraint CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'maintainer'::text, 'admin'::text])))
table workers with (fillfactor=50)
  id integer not null identity
  name text not null
  node integer
  services text[] not null default '{}'::text[]
  labels jsonb not null default '{}'::jsonb
  last_claim uuid
  started_at timestamp with time zone not null
  seen_at timestamp with time zone not null
  stopped_at timestamp with time zone
  holder text
  constraint UNIQUE (name)
  constraint PRIMARY KEY (id)
  constraint FOREIGN KEY (node) REFERENCES weir.nodes(id)
  index workers_node_idx btree (node) WHERE (node IS NOT NULL)
table workflows
  id uuid not null
  name text not null
  version integer not null
  active boolean not null default true
  definition jsonb not null
  source text
  by text
  created_at timestamp with time zone not null
  updated_at timestamp with time zone not null
  deleted_at timestamp with time zone
  constraint UNIQUE (name, version)
  constraint PRIMARY KEY (id)
  constraint CHECK ((version > 0))
table workspace_archives
  key text not null
  workspace uuid not null
  verified_at timestamp with time zone
  meta jsonb
  orphan_since timestamp with time zone
  constraint PRIMARY KEY (key)
  index workspace_archives_of btree (workspace, verified_at DESC)
table workspace_codes
  hash bytea not null
  workspace uuid not null
  user_id uuid not null
  role text not null
  session uuid
  token uuid
  host text not null
  expires_at timestamp with time zone not null
  constraint PRIMARY KEY (hash)
  constraint FOREIGN KEY (session) REFERENCES weir.sessions(id) ON DELETE CASCADE
  constraint FOREIGN KEY (token) REFERENCES weir.tokens(id) ON DELETE CASCADE
  constraint FOREIGN KEY (user_id) REFERENCES weir.users(id) ON DELETE CASCADE
  constraint FOREIGN KEY (workspace) REFERENCES weir.workspaces(id) ON DELETE CASCADE
  constraint CHECK ((length(hash) = 32))
  index workspace_codes_end btree (expires_at)
table workspace_policy
  one boolean not null default true
  install uuid not null default gen_random_uuid()
  per_user integer not null default 2
  in_all integer not null default 100
  standby_ttl interval not null default '00:10:00'::interval
  archive_ttl interval not null default '00:30:00'::interval
  max_life interval
  busy_most interval not null default '12:00:00'::interval
  starts bigint not null default 0
  unknown_at timestamp with time zone
  unknown_of text[] not null default '{}'::text[]
  unknown text
  constraint PRIMARY KEY (one)
  constraint CHECK (((in_all >= 0) AND (in_all <= 100000)))
  constraint CHECK (((per_user >= 0) AND (per_user <= 10000)))
  constraint CHECK ((archive_ttl >= '00:00:10'::interval))
  constraint CHECK ((busy_most >= '00:00:00'::interval))
  constraint CHECK ((max_life >= '00:01:00'::interval))
  constraint CHECK ((standby_ttl >= '00:00:10'::interval))
  constraint CHECK (one)
table workspace_visits
  hash bytea not null
  workspace uuid not null
  user_id uuid not null
  role text not null
  session uuid
  token uuid
  host text not null
  created_at timestamp with time zone not null
  expires_at timestamp with time zone not null
  constraint PRIMARY KEY (hash)
  constraint FOREIGN KEY (session) REFERENCES weir.sessions(id) ON DELETE CASCADE
  constraint FOREIGN KEY (token) REFERENCES weir.tokens(id) ON DELETE CASCADE
  constraint FOREIGN KEY (user_id) REFERENCES weir.users(id) ON DELETE CASCADE
  constraint FOREIGN KEY (workspace) REFERENCES weir.workspaces(id) ON DELETE CASCADE
  constraint CHECK ((length(hash) = 32))
  index workspace_visits_end btree (expires_at)
  index workspace_visits_session btree (session) WHERE (session IS NOT NULL)
  index workspace_visits_token btree (token) WHERE (token IS NOT NULL)
  index workspace_visits_user btree (user_id)
  index workspace_visits_workspace btree (workspace)
table workspaces with (fillfactor=70)
  id uuid not null
  owner uuid not null
  name text not null
  description text
  image text
  provider text not null
  created_at timestamp with time zone not null
  desired text not null
  desired_by text
  desired_at timestamp with time zone not null
  generation bigint not null default 1
  deleted_at timestamp with time zone
  last_access_at timestamp with time zone not null
  last_activity text
  busy_until timestamp with time zone
  standby_ttl interval
  archive_ttl interval
  conditions jsonb not null default '{}'::jsonb
  observed_at timestamp with time zone
  observed_generation bigint not null default 0
  started_generation bigint not null default 0
  phase text not null default 'PENDING'::text
  phase_changed_at timestamp with time zone not null
  operation text not null default 'NONE'::text
  op_id uuid
  op_started_at timestamp with time zone
  op_progress_at timestamp with time zone
  op_progress text
  op_retry_at timestamp with time zone
  archive_op_id uuid
  archive_key text
  archive_meta jsonb
  archive_generation bigint not null default 0
  archive_of bigint
  volume_generation bigint not null default 0
  mounted bigint not null default 0
  had_home boolean not null default false
  error_reason text
  error_message text
  error_count integer not null default 0
  home_ctx jsonb
  constraint PRIMARY KEY (id)
  constraint FOREIGN KEY (owner) REFERENCES weir.users(id)
  constraint CHECK (((desired = 'DELETED'::text) = (deleted_at IS NOT NULL)))
  constraint CHECK (((operation = 'NONE'::text) = (op_id IS NULL)))
  constraint CHECK ((archive_ttl >= '00:00:10'::interval))
  constraint CHECK ((desired = ANY (ARRAY['ARCHIVED'::text, 'STANDBY'::text, 'RUNNING'::text, 'DELETED'::text])))
  constraint CHECK ((error_reason = ANY (ARRAY['Timeout'::text, 'RetryExceeded'::text, 'ActionFailed'::text, 'DataLost'::text, 'Unreachable'::text, 'ImagePullFailed'::text, 'ContainerWithoutVolume'::text, 'ArchiveCorrupted'::text])))
  constraint CHECK ((name ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$'::text))
  constraint CHECK ((operation = ANY (ARRAY['NONE'::text, 'PROVISIONING'::text, 'RESTORING'::text, 'STARTING'::text, 'STOPPING'::text, 'ARCHIVING'::text, 'CREATE_EMPTY_ARCHIVE'::text, 'DELETING'::text])))
  constraint CHECK ((phase = ANY (ARRAY['PENDING'::text, 'ARCHIVED'::text, 'STANDBY'::text, 'RUNNING'::text, 'ERROR'::text, 'DELETING'::text, 'DELETED'::text])))
  constraint CHECK ((standby_ttl >= '00:00:10'::interval))
  index workspaces_live btree (id) WHERE ((phase <> 'DELETED'::text) OR (operation <> 'NONE'::text))
  index workspaces_name UNIQUE btree (name, owner) WHERE (deleted_at IS NULL)
  index workspaces_owner btree (owner, id)
  index workspaces_resting btree (id) WHERE ((deleted_at IS NULL) AND (operation = 'NONE'::text) AND ((phase = 'RUNNING'::text) OR (phase = 'STANDBY'::text)))
  index workspaces_running btree (owner) WHERE ((deleted_at IS NULL) AND ((phase = 'RUNNING'::text) OR (desired = 'RUNNING'::text)))
  index workspaces_under_way btree (id) WHERE (operation <> 'NONE'::text)

-- Sequences
sequence artifacts_id_seq
sequence classes_id_seq
sequence devices_id_seq
sequence event_seq
sequence nodes_id_seq
sequence order_seq
sequence workers_id_seq

-- Views
view _definition: The definitions that jobs may have.
  id uuid
  name text
  version integer
  active boolean
  kept boolean
view _definition_work: What the steps of definitions need.
  definition uuid
  service text
  labels jsonb
view _flow_job_tasks: What flow.job_tasks shows, by the ids of Weir.
  id uuid
  job_id uuid
  task_key text
  service_name text
  status text
  depends_on text[]
  attempt integer
  max_attempts integer
  next_attempt_at timestamp with time zone
  priority integer
  progress numeric
  params jsonb
  results jsonb
  assigned_node text
  claimed_by text
  claimed_at timestamp with time zone
  started_at timestamp with time zone
  finished_at timestamp with time zone
  updated_at timestamp with time zone
  created_at timestamp with time zone
view _flow_jobs: What flow.jobs shows, by the ids of Weir.
  id uuid
  workflow_id uuid
  status text
  progress numeric
  current_task_key text
  priority integer
  order_seq bigint
  options jsonb
  scheduled_at timestamp with time zone
  error_code text
  error_message text
  created_at timestamp with time zone
  started_at timestamp with time zone
  finished_at timestamp with time zone
  updated_at timestamp with time zone
view _flow_task_artifacts: What flow.task_artifacts shows, by the ids of Weir.
  id bigint
  job_id uuid
  job_task_id uuid
  kind text
  bucket text
  key text
  size_bytes bigint
  content_type text
  checksum text
  created_at timestamp with time zone
view _flow_task_events: What flow.task_events shows, by the ids of Weir.
  id bigint
  job_id uuid
  job_task_id uuid
  ts timestamp with time zone
  source text
  level text
  type text
  message text
  data jsonb
view _hidden: Tasks that a floor hides.
  task uuid
  order_seq bigint
  class integer
  floor bigint
  pool text
view _lane_holder: Holders of lanes.
  lane text
  task uuid
  rank bigint
  exclusive boolean
  state text
  since timestamp with time zone
  opened_at timestamp with time zone
view _rollout_fact: The tasks of rollouts as their gates see them.
  task uuid
  rollout uuid
  stage smallint
  database text
  canary boolean
  state text
  outcome text
  hold text
  attempt integer
  proven boolean
  reason jsonb
view _rollout_status: Tasks of rollouts with their status.
  task uuid
  rollout uuid
  stage smallint
  status text
view device: Devices, whether they are there and well, and what they do.
  id integer
  serial text
  pc text
  hub text
  target text
  labels jsonb
  online boolean
  online_at timestamp with time zone
  missing_at timestamp with time zone
  health text
  health_at timestamp with time zone
  health_note text
  health_by text
  health_job uuid
  evidence uuid[]
  checks smallint
  check_at timestamp with time zone
  registered_at timestamp with time zone
  task uuid
  job uuid
  attempt integer
  claimed_at timestamp with time zone
  deadline timestamp with time zone
  why text
  eligible boolean
  reason jsonb
  flaps integer
  answer text
  answer_at timestamp with time zone
  health_until timestamp with time zone
  reserved_by text
  reserved_at timestamp with time zone
  reserved_until timestamp with time zone
  reserved_note text
view event: The timeline.
  seq bigint
  at timestamp with time zone
  type text
  kind text
  subject text
  job uuid
  task uuid
  attempt integer
  worker text
  source text
  level text
  message text
  data jsonb
view fleet_job: Every fleet job with its state and counts.
  id uuid
  name text
  state text
  priority integer
  order_seq bigint
  by text
  schedule text
  targeted integer
  done integer
  failed integer
  canceled integer
  missed integer
  running integer
  retrying integer
  waiting integer
  cause text
  stopped text
  created_at timestamp with time zone
  planned_at timestamp with time zone
  activated_at timestamp with time zone
  ended_at timestamp with time zone
  lingers_at timestamp with time zone
  linger interval
  spec jsonb
  missed_at timestamp with time zone
  lane text
view fleet_unit: The units of fleet jobs.
  job uuid
  unit integer
  round integer
  state text
  device text
  pc text
  task uuid
  infra integer
  excluded integer[]
  cause text
  attempt integer
  claimed_at timestamp with time zone
  deadline timestamp with time zone
  retry_at timestamp with time zone
  started_at timestamp with time zone
  ended_at timestamp with time zone
  result jsonb
view job: Every job with its state and progress.
  id uuid
  state text
  kind text
  name text
  priority integer
  order_seq bigint
  total integer
  done integer
  failed integer
  canceled integer
  skipped integer
  progress double precision
  cause text
  params jsonb
  created_at timestamp with time zone
  finished_at timestamp with time zone
  trace text
  scheduled_at timestamp with time zone
  due timestamp with time zone
  note text
  definition uuid
  schedule text
  parent uuid
  origin uuid
  options jsonb
view node: Nodes and what they run.
  name text
  state text
  labels jsonb
  capacity jsonb
  running bigint
  workers bigint
  note text
  mode_until timestamp with time zone
  seen_at timestamp with time zone
  registered_at timestamp with time zone
  mode_at timestamp with time zone
  wake_method text
  wake_state text
  wake_at timestamp with time zone
  wake_note text
  sleep_after interval
  version text
  drivers text[]
  isolation text
  faults jsonb
view pc: PCs, their slots and their devices.
  name text
  state text
  why text
  slots integer
  target integer
  running integer
  eligible integer
  devices integer
  online integer
  quarantined integer
  paused_until timestamp with time zone
  pause_note text
  trouble text
  reported_at timestamp with time zone
  seen_at timestamp with time zone
  registered_at timestamp with time zone
  set_slots integer
  labels jsonb
  reason jsonb
view pool: Pools and their use.
  name text
  size integer
  rate integer
  per interval
  note text
  waiting bigint
  available bigint
  running bigint
  resized_at timestamp with time zone
view rollout: Every rollout with its state.
  id uuid
  name text
  state text
  waits text
  hash text
  revision integer
  replaces uuid
  replaced_by uuid
  parallel integer
  out_of_order boolean
  run_at timestamp with time zone
  note text
  by text
  created_at timestamp with time zone
  started_at timestamp with time zone
  started_by text
  paused_at timestamp with time zone
  paused_by text
  pause_note text
  aborted_at timestamp with time zone
  aborted_by text
  abort_note text
  finished_at timestamp with time zone
  total integer
  warnings jsonb
  plan jsonb
  reason jsonb
view rollout_database: Databases that rollouts change.
  name text
  engine text
  environment text
  labels jsonb
  secret text
  note text
  identity text
  server text
  version text
  checked_at timestamp with time zone
  fault text
  by text
  created_at timestamp with time zone
  changed_at timestamp with time zone
  live integer
  drifted boolean
view rollout_task: Every task of a rollout with its status and cause.
  id uuid
  rollout uuid
  key text
  stage text
  stage_n smallint
  database text
  change text
  version text
  kind text
  canary boolean
  n integer
  status text
  cause text
  blocker uuid
  since timestamp with time zone
  attempt integer
  phase text
  code text
  error text
  worker text
  started_at timestamp with time zone
  finished_at timestamp with time zone
  stopping boolean
  reason jsonb
view task: Every task with its state.
  id uuid
  state weir.state
  job uuid
  key text
  service text
  labels jsonb
  priority smallint
  order_seq bigint
  position integer
  gate weir.gate
  since timestamp with time zone
  attempt integer
  max_attempts integer
  params jsonb
  result jsonb
  cause text
  created_at timestamp with time zone
  run_at timestamp with time zone
  hold text
  lane text
  rank bigint
  exclusive boolean
  pool text
  timeout interval
  worker text
  until timestamp with time zone
  deadline timestamp with time zone
  started_at timestamp with time zone
  finished_at timestamp with time zone
  cancel_at timestamp with time zone
  rule weir.rule
  needs uuid[]
  unique_key text
  trace text
  run jsonb
  plan boolean
  awaits uuid[]
  hold_reason jsonb
view worker: Workers and what they run.
  name text
  state text
  node text
  services text[]
  labels jsonb
  running bigint
  started_at timestamp with time zone
  seen_at timestamp with time zone
  stopped_at timestamp with time zone

-- Views of schema flow
view flow.job_tasks: Tasks of jobs.
  id uuid
  job_id uuid
  task_key text
  service_name text
  status text
  depends_on text[]
  attempt integer
  max_attempts integer
  next_attempt_at timestamp with time zone
  priority integer
  progress numeric
  params jsonb
  results jsonb
  assigned_node text
  claimed_by text
  claimed_at timestamp with time zone
  started_at timestamp with time zone
  finished_at timestamp with time zone
  updated_at timestamp with time zone
  created_at timestamp with time zone
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON flow.job_tasks FOR EACH ROW EXECUTE FUNCTION weir._flow_refuse('weir.claim, weir.finish and weir.fail')
view flow.jobs: Jobs. INSERT (workflow_id, scheduled_at, options, priority) opens one: weir.open_job.
  id uuid
  workflow_id uuid
  status text
  progress numeric
  current_task_key text
  priority integer
  order_seq bigint
  options jsonb
  scheduled_at timestamp with time zone
  error_code text
  error_message text
  created_at timestamp with time zone
  started_at timestamp with time zone
  finished_at timestamp with time zone
  updated_at timestamp with time zone
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON flow.jobs FOR EACH ROW EXECUTE FUNCTION weir._flow_job()
view flow.nodes: Nodes, and how they are woken.
  name text
  labels jsonb
  last_seen timestamp with time zone
  awake_state text
  wake_method text
  mac text
  provider_ref text
  script text
  max_concurrency jsonb
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON flow.nodes FOR EACH ROW EXECUTE FUNCTION weir._flow_refuse('weir.register_node, weir.set_node and weir.set_wake')
view flow.task_artifacts: Artifacts of tasks.
  id bigint
  job_id uuid
  job_task_id uuid
  kind text
  bucket text
  key text
  size_bytes bigint
  content_type text
  checksum text
  created_at timestamp with time zone
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON flow.task_artifacts FOR EACH ROW EXECUTE FUNCTION weir._flow_refuse('weir.record_artifact')
view flow.task_events: The timeline of jobs.
  id bigint
  job_id uuid
  job_task_id uuid
  ts timestamp with time zone
  source text
  level text
  type text
  message text
  data jsonb
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON flow.task_events FOR EACH ROW EXECUTE FUNCTION weir._flow_event()
view flow.workflows: Workflows. INSERT (name, version, steps) stores a version: weir.put_workflow.
  id uuid
  name text
  version integer
  is_active boolean
  steps jsonb
  created_at timestamp with time zone
  updated_at timestamp with time zone
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON flow.workflows FOR EACH ROW EXECUTE FUNCTION weir._flow_workflow()

-- Views of schema fleet
view fleet.devices: Devices. INSERT (serial, pc_id, …) says that a PC sees one.
  id integer
  serial text
  pc_id text
  status text
  error text
  target text
  hub text
  labels jsonb
  task_device_id uuid
  last_heartbeat timestamp with time zone
  created_at timestamp with time zone
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON fleet.devices FOR EACH ROW EXECUTE FUNCTION weir._fleet_device_row()
view fleet.execution_logs: The history of attempts. INSERT adds a line of a runner.
  id bigint
  task_id uuid
  task_device_id uuid
  device_id integer
  pc_id text
  attempt_no integer
  event_type text
  level text
  message text
  data jsonb
  created_at timestamp with time zone
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON fleet.execution_logs FOR EACH ROW EXECUTE FUNCTION weir._fleet_log_row()
view fleet.pc_device_summary: Devices, runs and the target of each PC.
  pc_id text
  device_count integer
  online_count integer
  busy_count integer
  offline_count integer
  error_count integer
  running_count integer
  eligible_device_count integer
  target integer
  max_devices integer
  last_heartbeat timestamp with time zone
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON fleet.pc_device_summary FOR EACH ROW EXECUTE FUNCTION weir._flow_refuse('fleet.devices and fleet.workers')
view fleet.task_devices: Runs on devices, each with its attempt.
  id uuid
  task_id uuid
  device_id integer
  device_serial text
  device_target text
  pc_id text
  status text
  attempt integer
  max_attempts integer
  error text
  config jsonb
  run jsonb
  result jsonb
  lease_expires_at timestamp with time zone
  cancel_requested boolean
  started_at timestamp with time zone
  timeout_at timestamp with time zone
  completed_at timestamp with time zone
  created_at timestamp with time zone
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON fleet.task_devices FOR EACH ROW EXECUTE FUNCTION weir._flow_refuse('fleet.claim_task_devices_for_pc, renew_task_device_lease, complete_task_device and fail_or_retry_task_device')
view fleet.tasks: Fleet jobs. INSERT (name, payload, target, …) submits one: weir.fleet_submit.
  id uuid
  name text
  status text
  priority integer
  payload jsonb
  target jsonb
  max_attempts integer
  timeout interval
  config jsonb
  devices_total integer
  devices_done integer
  devices_failed integer
  error text
  created_by text
  created_at timestamp with time zone
  started_at timestamp with time zone
  completed_at timestamp with time zone
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON fleet.tasks FOR EACH ROW EXECUTE FUNCTION weir._fleet_task_row()
view fleet.workers: PCs. INSERT (pc_id, max_devices) registers one, and is a heartbeat.
  pc_id text
  device_capacity integer
  max_devices integer
  status text
  last_heartbeat timestamp with time zone
  created_at timestamp with time zone
  trigger write INSTEAD OF INSERT OR DELETE OR UPDATE ON fleet.workers FOR EACH ROW EXECUTE FUNCTION weir._fleet_worker_row()

-- Functions
function _act_as_owner(kind text) returns void
  sql volatile: The commands of this transaction come from the owner of such jobs.
function _add_absence(since timestamp with time zone, t timestamp with time zone) returns integer
  plpgsql volatile set search_path=weir, pg_temp: Extends the leases of nodes that ran out while no server was there.
function _add_to_jobs(specs weir.task_spec[], of uuid[], base integer, params jsonb, known_keys text[], known_ids uuid[], t timestamp with time zone) returns uuid[]
  plpgsql volatile set enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Tasks join jobs that live, or build queued ones.
function _advance(ids uuid[], t timestamp with time zone, OUT lanes text[], OUT pools text[], OUT opened integer) returns record
  plpgsql volatile set enable_bitmapscan=off, enable_nestloop=on, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Steps tasks to their next closed gate.
function _advance_and_open(ids uuid[], t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Steps tasks to their next closed gate and through it if it is open.
function _after_end(ended uuid[], lanes text[], pools text[], t timestamp with time zone, hint boolean DEFAULT true) returns integer
  plpgsql volatile set search_path=weir, pg_temp: Counts down needs, closes jobs, opens freed keys.
function _ask(of_task uuid, of_job uuid, ask jsonb) returns void
  sql volatile set search_path=weir, pg_temp: Writes what a held task asks for.
function _ask_to_stop(tasks uuid[], by text, note text, skip boolean, t timestamp with time zone) returns integer
  plpgsql volatile set search_path=weir, pg_temp: Marks leases as to be cancelled and tells their workers.
function _attempt_limit() returns integer
  sql immutable: The attempt past which snoozes do not count.
function _awake(n weir.nodes, t timestamp with time zone) returns boolean
  sql immutable: Whether a node is awake.
function _backoff(spent integer, base interval, cap interval, luck double precision DEFAULT random()) returns interval
  sql volatile: Delay before the next attempt. Defaults: base 15 s, cap 15 min.
function _bad_count(field text, n bigint) returns jsonb
  sql immutable: What is wrong with a number of rows; null: nothing.
function _bad_fault(fault text) returns jsonb
  sql immutable: What is wrong with the name of a fault; null: nothing.
function _bad_span(field text, span interval, zero boolean DEFAULT false) returns jsonb
  sql immutable: What is wrong with a span of time; null: nothing.
function _bad_text(field text, value text, most integer DEFAULT 200) returns jsonb
  sql immutable: What is wrong with a text; null: nothing.
function _bad_time(field text, moment timestamp with time zone) returns jsonb
  sql immutable: What is wrong with a time; null: nothing.
function _body_hash(spec weir.task_spec) returns bytea
  sql stable set search_path=weir, pg_temp: The hash of what a task asks for.
function _bound_capacity(says jsonb, most jsonb) returns jsonb
  sql immutable set search_path=weir, pg_temp: The capacity that a node says, within what it may have.
function _bound_time(bound text) returns timestamp with time zone
  sql stable: A partition border as a time.
function _caller() returns text
  sql stable: The role that called; null for the owner of the schema.
function _came_to_class() returns trigger
  plpgsql volatile set search_path=weir, pg_temp: Notes the number of a task that came under -class.
function _came_to_pool() returns trigger
  plpgsql volatile set search_path=weir, pg_temp: Notes the place of a task that came to wait at a pool.
function _canceled_tasks(of_job uuid, stops boolean) returns uuid[]
  sql stable set jit=off, search_path=weir, pg_temp: Which tasks of a job its cancel ends.
function _check(VARIADIC wrong jsonb[]) returns void
  plpgsql volatile set search_path=weir, pg_temp: Raises WR422 for the first value that is wrong.
function _check_labels(labels jsonb) returns void
  plpgsql stable: WR422 unless labels are an object with string values.
function _check_needs(specs weir.task_spec[], known text[] DEFAULT '{}'::text[], most integer DEFAULT 10000) returns void
  plpgsql stable set enable_mergejoin=off, enable_nestloop=off, search_path=weir, pg_temp: WR422 unless the needs of a job form a graph without rings.
function _check_node(labels jsonb, capacity jsonb) returns void
  plpgsql volatile set search_path=weir, pg_temp: Refuses labels and capacity that are of the wrong form.
function _check_note(type text, data jsonb, level text) returns void
  plpgsql volatile set search_path=weir, pg_temp: Raises WR422 for an event that a worker may not write.
function _class(of_service text, of_priority integer, of_labels jsonb) returns integer
  plpgsql volatile set search_path=weir, pg_temp: The id of a class.
function _classes(specs weir.task_spec[], of uuid[]) returns void
  plpgsql volatile set enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Makes the classes of tasks that join jobs.
function _clock(at timestamp with time zone) returns timestamp with time zone
  sql volatile: The database clock, or the time a test sets.
function _close(ended weir.finished[], source text DEFAULT NULL::text, reason text DEFAULT NULL::text) returns void
  plpgsql volatile set enable_nestloop=on, jit=off, search_path=weir, pg_temp: Terminal rows, their events and their keys.
function _close_jobs(jobs uuid[], t timestamp with time zone) returns void
  plpgsql volatile set enable_nestloop=on, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Closes jobs that are complete.
function _close_queued(of_job uuid, outcome weir.state, cause text, by text, t timestamp with time zone) returns boolean
  plpgsql volatile set search_path=weir, pg_temp: queued → done, failed or canceled.
function _cluster_identity() returns bigint
  plpgsql stable set search_path=weir, pg_temp: The system identifier of the cluster.
function _conflict(pattern text, args jsonb DEFAULT '[]'::jsonb, hint text DEFAULT NULL::text, command text DEFAULT NULL::text, field text DEFAULT NULL::text) returns void
  sql volatile: Raises WR409.
function _count_events(from_xid bigint, from_seq bigint, to_xid bigint, to_seq bigint, rows bigint) returns TABLE(at timestamp with time zone, submitted bigint, started bigint, done bigint, failed bigint, canceled bigint, expired bigint, refused bigint, waits real[], runs real[])
  sql volatile set enable_seqscan=off, jit=off, search_path=weir, pg_temp: What happened between two places of the timeline, by minute.
function _deduplicate(specs weir.task_spec[], ids uuid[]) returns uuid[]
  plpgsql volatile set enable_nestloop=on, jit=off, search_path=weir, pg_temp: The tasks that stand for repeated submissions.
function _defer_keys(lane boolean, keys text[], t timestamp with time zone, busy boolean DEFAULT false, error text DEFAULT NULL::text) returns void
  plpgsql volatile set search_path=weir, pg_temp: Keys for the next pass of weir.tend.
function _device_answer(d weir.devices, n weir.nodes, p weir.pcs, busy boolean, checked boolean, t timestamp with time zone) returns TABLE(verdict text, at timestamp with time zone, since timestamp with time zone, reason jsonb)
  sql stable: Can a device serve: now, later by itself, only by a person, or never?
function _device_checked(of_device integer, of_task uuid, f weir.finished, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: What a health task means for its device.
function _device_command(serial text, health text, from_states text[], did text, by text, reason text, t timestamp with time zone, until timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile set search_path=weir, pg_temp: A command for a device.
function _device_due(t timestamp with time zone) returns integer
  plpgsql volatile set search_path=weir, pg_temp: Ends reservations and maintenance whose time is over.
function _device_flaps(d weir.devices, t timestamp with time zone) returns boolean
  sql immutable: Does a device come and go?
function _device_freed() returns trigger
  plpgsql volatile security definer set enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Trigger: units, devices and jobs follow the end of a lease.
function _device_gone(ids integer[], t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: online → offline for devices that stayed away.
function _device_health(of_device integer, health text, note text, by text, of_job uuid, evidence uuid[], t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Another health of a device, with actor, reason and evidence.
function _device_locked(serial text) returns weir.devices
  plpgsql volatile set search_path=weir, pg_temp: A device, locked for a command.
function _device_lost(ids integer[], reason text, t timestamp with time zone) returns TABLE(task uuid, attempt integer, why text)
  plpgsql volatile set search_path=weir, pg_temp: Ends attempts whose device is gone.
function _device_missing(ids integer[], t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Devices are absent: counts the losses of each.
function _device_new(n weir.nodes, fresh jsonb, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Registers devices.
function _device_powered(of_device integer) returns boolean
  sql stable set search_path=weir, pg_temp: Does a health task with a power command run on a device?
function _device_reason(d weir.devices, checked boolean) returns jsonb
  sql stable: Why a device gets no work, or null.
function _device_seen(n weir.nodes, ids integer[], devices jsonb, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Known devices are here.
function _device_span() returns trigger
  plpgsql volatile set search_path=weir, pg_temp: Trigger: the states that a device goes through.
function _device_spanned(d weir.devices, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: A device is in another state.
function _device_unclean(u weir.fleet_units, of_device integer, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: A device whose clean-up failed is suspect.
function _device_unreserve(d weir.devices, note text, by text, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Ends a reservation.
function _device_valid(devices jsonb) returns void
  plpgsql stable: WR422 unless each device can be taken.
function _device_worked(of_device integer, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: suspect or unknown → good.
function _doctor(name text, found text[], level text DEFAULT 'invariant'::text) returns TABLE(name text, ok boolean, level text, detail text)
  sql immutable: A finding of the doctor.
function _doctor_fleets() returns TABLE(name text, ok boolean, level text, detail text)
  plpgsql stable set jit=off, search_path=weir, pg_temp: Invariants of fleets.
function _doctor_gates() returns TABLE(name text, ok boolean, level text, detail text)
  plpgsql stable set jit=off, search_path=weir, pg_temp: Invariants of lanes, ranks and pools.
function _doctor_health(t timestamp with time zone) returns TABLE(name text, ok boolean, level text, detail text)
  plpgsql stable set search_path=weir, pg_temp: Findings for an operator.
function _doctor_rollouts(t timestamp with time zone) returns TABLE(name text, ok boolean, level text, detail text)
  plpgsql stable set jit=off, search_path=weir, pg_temp: Invariants of rollouts, and what a person has to decide.
function _doctor_states(sample uuid[]) returns TABLE(name text, ok boolean, level text, detail text)
  plpgsql stable set jit=off, search_path=weir, pg_temp: Invariants of tasks, leases, jobs and keys.
function _doctor_timeline(sample uuid[]) returns TABLE(name text, ok boolean, level text, detail text)
  plpgsql stable set enable_nestloop=off, jit=off, search_path=weir, pg_temp: Invariant: state = fold(events).
function _doctor_workspaces(t timestamp with time zone) returns TABLE(name text, ok boolean, level text, detail text)
  plpgsql stable set jit=off, search_path=weir, pg_temp: Invariants of workspaces.
function _earlier_time(earlier jsonb, field text) returns timestamp with time zone
  sql stable: A time of an earlier schema.
function _end_waiting(tasks uuid[], outcome weir.state, note text, t timestamp with time zone) returns integer
  plpgsql volatile set search_path=weir, pg_temp: pending or available → canceled or skipped for many tasks.
function _event_xid() returns bigint
  plpgsql volatile: The place of an event in the timeline.
function _expire(n integer, t timestamp with time zone, just uuid DEFAULT NULL::uuid, OUT total integer, OUT ended uuid[], OUT lanes text[], OUT pools text[]) returns record
  plpgsql volatile set enable_nestloop=on, jit=off, search_path=weir, pg_temp: Ends leases that ran out: how many, which tasks ended, which keys they freed.
function _expire_ask(of_task uuid, event text, late text, expires interval, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Fails or releases a held task that was not decided in time.
function _fail(r weir.running, error text, final boolean, retry_at timestamp with time zone, t timestamp with time zone, reason text DEFAULT NULL::text) returns boolean
  plpgsql volatile set enable_nestloop=on, jit=off, search_path=weir, pg_temp: One failed attempt: retry with back-off, or failed.
function _fail_held(of_task uuid, cause text, by text, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: held → failed without an attempt.
function _fault(field text, pattern text, VARIADIC args text[] DEFAULT '{}'::text[]) returns jsonb
  sql immutable: What is wrong with a value, for weir._check.
function _fault_limit() returns integer
  sql immutable: Returns because of a broken node that cost a task nothing.
function _find_cycle(specs weir.task_spec[]) returns text
  plpgsql stable set search_path=weir, pg_temp: Tasks that wait for one another.
function _finished_lease(r weir.running, outcome weir.state, cause text, t timestamp with time zone) returns weir.finished
  sql immutable: The terminal row of a lease that ended.
function _finished_row(task uuid, at timestamp with time zone, attempt integer, outcome weir.state, cause text DEFAULT NULL::text, started_at timestamp with time zone DEFAULT NULL::timestamp with time zone, worker integer DEFAULT NULL::integer, passes boolean DEFAULT NULL::boolean, opened_at timestamp with time zone DEFAULT NULL::timestamp with time zone, result jsonb DEFAULT NULL::jsonb) returns weir.finished
  sql immutable: A terminal row from its columns.
function _fire(runs jsonb, t timestamp with time zone) returns jsonb
  plpgsql volatile set jit=off, search_path=weir, pg_temp: Submits due runs of schedules exactly once.
function _fire_fleet(s weir.schedules, due timestamp with time zone[], t timestamp with time zone) returns uuid[]
  plpgsql volatile set search_path=weir, pg_temp: Submits the fleet jobs of due runs.
function _fire_workflow(s weir.schedules, due timestamp with time zone[], t timestamp with time zone) returns uuid[]
  plpgsql volatile set search_path=weir, pg_temp: Opens the jobs of due runs of a workflow.
function _fired(of_trigger text, of_key text, became text, why jsonb, made uuid, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Writes what came of a firing.
function _fleet_add_devices(j weir.fleet_jobs, ids integer[], t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Units for devices that join a running job.
function _fleet_advance(of_job uuid, t timestamp with time zone) returns integer
  plpgsql volatile set enable_seqscan=off, jit=off, search_path=weir, pg_temp: Ends a fleet job that cannot come further.
function _fleet_answer(u weir.fleet_units, j weir.fleet_jobs, checked boolean, t timestamp with time zone) returns TABLE(verdict text, at timestamp with time zone, until timestamp with time zone, reason jsonb)
  sql stable: Can a unit be served, and how long does it keep its job active?
function _fleet_around(spec jsonb) returns interval
  sql immutable: The time for the set-up and the clean-up of a run.
function _fleet_attempt_revoked(of_task uuid, of_node integer, from_attempt integer, to_attempt integer) returns boolean
  sql stable set search_path=weir, pg_temp: Was an attempt ended behind the back of a PC?
function _fleet_breaker(j weir.fleet_jobs) returns integer
  sql stable set search_path=weir, pg_temp: After how many failures a fleet job is bad.
function _fleet_cancel_units(of_job uuid, why text, t timestamp with time zone) returns void
  plpgsql volatile set enable_seqscan=off, search_path=weir, pg_temp: Cancels what is left of a fleet job.
function _fleet_check_report(devices jsonb) returns void
  plpgsql stable: WR422 unless it is a report of devices.
function _fleet_closed() returns trigger
  plpgsql volatile security definer set search_path=weir, pg_temp: Trigger: the end of a fleet job makes the next one active.
function _fleet_command(spec jsonb, field text) returns void
  plpgsql immutable: WR422 unless it is a command with a timeout.
function _fleet_counted() returns trigger
  plpgsql volatile security definer set enable_seqscan=off, search_path=weir, pg_temp: Trigger: units follow tasks that ended without having run.
function _fleet_device_row() returns trigger
  plpgsql volatile security definer set search_path=weir, pg_temp: A PC sees what is inserted into fleet.devices.
function _fleet_dropout(n weir.nodes, absent integer[], t timestamp with time zone) returns TABLE(task uuid, attempt integer, why text)
  plpgsql volatile set search_path=weir, pg_temp: Gives back what ran on devices that were lost together.
function _fleet_fail_infrastructure(r weir.running, error text, harmless boolean, t timestamp with time zone) returns boolean
  plpgsql volatile set enable_seqscan=off, search_path=weir, pg_temp: One attempt that the infrastructure broke.
function _fleet_failed(u weir.fleet_units, f weir.finished, of_device integer, t timestamp with time zone) returns void
  plpgsql volatile set enable_seqscan=off, search_path=weir, pg_temp: FAILED_FINAL: the device leaves the schedule, or the job is stopped.
function _fleet_find_lease(op text, of_task uuid, pc text, of_attempt integer, t timestamp with time zone, OUT attempt integer, OUT token uuid, OUT repeated boolean) returns record
  plpgsql volatile set search_path=weir, pg_temp: The lease that a PC means, or null and a warning.
function _fleet_hold(of_job uuid) returns boolean
  plpgsql volatile set lock_timeout=200ms, search_path=weir, pg_temp: Locks a fleet job, unless somebody else keeps it.
function _fleet_keeps(j weir.fleet_jobs, checked boolean, t timestamp with time zone) returns timestamp with time zone
  plpgsql stable set enable_seqscan=off, jit=off, search_path=weir, pg_temp: How long the units of a fleet job keep it active.
function _fleet_lane_key(lane text) returns integer
  sql immutable: The lock of a lane of fleet jobs.
function _fleet_lease_checks(devices integer[], n weir.nodes, of_worker integer, fence uuid, lease interval, t timestamp with time zone) returns integer
  plpgsql volatile set enable_seqscan=off, jit=off, search_path=weir, pg_temp: Health tasks that run.
function _fleet_lease_picks(picks weir.fleet_units[], n weir.nodes, of_worker integer, fence uuid, lease interval, t timestamp with time zone) returns integer
  plpgsql volatile set search_path=weir, pg_temp: Leases picked units to a PC.
function _fleet_lease_retries(picks weir.fleet_units[], n weir.nodes, of_worker integer, fence uuid, lease interval, t timestamp with time zone) returns integer
  plpgsql volatile set enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: available → running for retries on devices.
function _fleet_lease_units(picks weir.fleet_units[], n weir.nodes, of_worker integer, fence uuid, lease interval, t timestamp with time zone) returns integer
  plpgsql volatile set enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Units become tasks that run.
function _fleet_leases_of_claim(of_node integer, fence uuid) returns TABLE(task uuid, attempt integer, token uuid, service text, params jsonb, job uuid, key text, until timestamp with time zone, deadline timestamp with time zone, max_attempts integer, claimed_at timestamp with time zone, trace text, gated boolean, run jsonb, device integer, serial text, target text)
  sql stable: What a PC holds from one claim.
function _fleet_log_row() returns trigger
  plpgsql volatile security definer set search_path=weir, pg_temp: A line that is inserted into fleet.execution_logs.
function _fleet_matches(target jsonb, serial text, labels jsonb) returns boolean
  sql immutable: Is the device in the target?
function _fleet_next(of_lane text, t timestamp with time zone, patient boolean DEFAULT true) returns uuid
  plpgsql volatile set search_path=weir, pg_temp: waiting → active for the oldest fleet job of a lane, if none of it is active.
function _fleet_number(spec jsonb, field text, usual integer, lowest integer, highest integer) returns integer
  plpgsql immutable: A number of a spec, or WR422.
function _fleet_overlap(of_node integer, checked boolean, plan boolean, t timestamp with time zone) returns uuid[]
  plpgsql volatile set search_path=weir, pg_temp: The next fleet jobs, for overlap.
function _fleet_pc(pc text, slots integer, t timestamp with time zone) returns weir.nodes
  plpgsql volatile set search_path=weir, pg_temp: The node of a PC.
function _fleet_pick(of_node integer, serves uuid[], taken integer[], room integer, checked boolean, t timestamp with time zone) returns TABLE(device integer, job uuid, unit integer, task uuid)
  sql stable: What idle devices of a PC could do next.
function _fleet_pick_open(of_node integer, serves uuid, taken integer[], room integer, checked boolean) returns TABLE(device integer, job uuid, unit integer, task uuid)
  plpgsql volatile set enable_bitmapscan=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Locks units that any device may serve.
function _fleet_pick_row(job uuid, unit integer, device integer, task uuid) returns weir.fleet_units
  sql immutable: A unit that a device could serve.
function _fleet_picks(picks weir.fleet_units[], of_node integer, serves uuid[], room integer, checked boolean, t timestamp with time zone) returns weir.fleet_units[]
  plpgsql volatile set search_path=weir, pg_temp: What a PC takes of a job.
function _fleet_plan(of_job uuid, t timestamp with time zone) returns boolean
  plpgsql volatile set jit=off, search_path=weir, pg_temp: Makes the units of a fleet job.
function _fleet_report_device(pc text, device jsonb, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: A PC sees a device.
function _fleet_reserved_words() returns text[]
  sql stable: Words that runners cannot write.
function _fleet_run(spec jsonb) returns jsonb
  sql immutable: The run of a fleet job with its set-up and clean-up.
function _fleet_span(spec jsonb, field text, usual interval, lowest interval, highest interval) returns interval
  plpgsql immutable: A span of a spec, or WR422.
function _fleet_spec(spec jsonb) returns weir.fleet_jobs
  plpgsql stable set search_path=weir, pg_temp: The row of a fleet job from its spec, or WR422.
function _fleet_stop(of_job uuid, why text, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Stops a bad job and restores its devices.
function _fleet_task_row() returns trigger
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Submits what is inserted into fleet.tasks.
function _fleet_timeout(reason text, allowed interval) returns text
  sql immutable: The words for a timeout, or null.
function _fleet_unmatched(target jsonb, serial text, labels jsonb) returns jsonb
  sql immutable: Which condition of a target a device does not meet, or null.
function _fleet_why(of_job uuid, most integer, t timestamp with time zone) returns TABLE(device text, pc text, reason jsonb)
  plpgsql stable set search_path=weir, pg_temp: Why a fleet job is not further, with reasons for programs.
function _fleet_worker(worker text, n weir.nodes, t timestamp with time zone) returns weir.workers
  plpgsql volatile set search_path=weir, pg_temp: The worker of a PC.
function _fleet_worker_row() returns trigger
  plpgsql volatile security definer set search_path=weir, pg_temp: A heartbeat that is inserted into fleet.workers.
function _flow_event() returns trigger
  plpgsql volatile security definer set search_path=weir, pg_temp: Adds an event that was inserted into flow.task_events.
function _flow_job() returns trigger
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Opens a job that was inserted into flow.jobs.
function _flow_refuse() returns trigger
  plpgsql volatile security definer set search_path=weir, pg_temp: Refuses to write to a view, and says what to use.
function _flow_workflow() returns trigger
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Stores a workflow that was inserted into flow.workflows.
function _format_argument(value jsonb, form text) returns text
  plpgsql stable set search_path=weir, pg_temp: An argument of a reason in English.
function _forward_held(d weir.devices, person text, t timestamp with time zone) returns boolean
  sql stable: Whether a person has a device for himself.
function _give_signals(of_job uuid, t timestamp with time zone) returns integer
  plpgsql volatile set jit=off, search_path=weir, pg_temp: Ends tasks whose events came.
function _give_up_lease(r weir.running, event text, message text, t timestamp with time zone, counts boolean DEFAULT true, fault text DEFAULT NULL::text) returns void
  plpgsql volatile set enable_nestloop=on, jit=off, search_path=weir, pg_temp: running → available: expired or returned; on to pending where its pool has a rate.
function _has_waiting(of_job uuid, stops boolean DEFAULT true) returns boolean
  sql stable set jit=off, search_path=weir, pg_temp: Whether a job has tasks that nobody works on and that its cancel ends.
function _health_check(health jsonb, field text DEFAULT 'health'::text) returns void
  plpgsql immutable: WR422 unless it is a health task.
function _health_task(health jsonb, serial text, labels jsonb) returns jsonb
  sql immutable: The health task of a device.
function _hint(specs weir.task_spec[]) returns void
  plpgsql volatile set search_path=weir, pg_temp: NOTIFY for a submission. A hint: whoever misses it polls.
function _hold_keys(keys text[], lane boolean) returns void
  plpgsql volatile set search_path=weir, pg_temp: Locks keys, or says who has one.
function _hook(what text, kind text, arguments text) returns regprocedure
  sql stable: The function of a domain for a kind; null: there is none.
function _id(at timestamp with time zone, n bigint DEFAULT 1) returns uuid
  plpgsql volatile: A UUIDv7 of that time; n orders the ids of one batch.
function _id_at(at timestamp with time zone) returns uuid
  sql immutable: The lowest UUIDv7 of a time.
function _id_prefix(at timestamp with time zone) returns text
  plpgsql stable: The first fifteen characters of a UUIDv7.
function _id_time(id uuid) returns timestamp with time zone
  sql immutable: The time in a UUIDv7.
function _instant(at timestamp with time zone) returns text
  sql stable: A time in a reason.
function _invalid(field text, pattern text, args jsonb DEFAULT '[]'::jsonb, hint text DEFAULT NULL::text, command text DEFAULT NULL::text) returns void
  sql volatile: Raises WR422.
function _invalid_task(n bigint, fault jsonb, hint text DEFAULT NULL::text) returns void
  sql volatile: Raises WR422 for one of several tasks.
function _jittered(name text, due timestamp with time zone, jitter interval) returns timestamp with time zone
  sql immutable: The time of a run, put off by its part of the jitter.
function _job_of(id uuid) returns uuid
  sql stable set search_path=weir, pg_temp: The id of a job, from the id that its client gave it or from its own.
function _job_places(of_job uuid) returns TABLE(place text, nth integer, n bigint, task uuid, name text, since timestamp with time zone)
  sql stable set search_path=weir, pg_temp: How many tasks of a job stand where.
function _key_bucket(lane boolean, key text) returns integer
  sql immutable: The bucket of a key.
function _key_holder(lane boolean, key text) returns jsonb
  sql stable set search_path=weir, pg_temp: The transaction that has the lock of a key.
function _label_compare(a text, b text) returns integer
  plpgsql immutable: Compares values of labels as numbers, versions or text.
function _label_condition(condition text, OUT key text, OUT op text, OUT list text[], OUT turned boolean) returns record
  sql immutable: The parts of a condition on labels, or null.
function _label_conditions(conditions jsonb, field text) returns void
  plpgsql immutable: WR422 unless they are conditions on labels.
function _label_holds(condition text, labels jsonb) returns boolean
  plpgsql immutable set search_path=weir, pg_temp: Does a condition hold for labels?
function _lane_since(of_task uuid, opened_at timestamp with time zone) returns timestamp with time zone
  sql stable set search_path=weir, pg_temp: The earliest time at which a holder of a lane can have passed it.
function _leases_of_claim(of_worker integer, fence uuid) returns TABLE(task uuid, attempt integer, token uuid, service text, params jsonb, job uuid, key text, until timestamp with time zone, deadline timestamp with time zone, max_attempts integer, claimed_at timestamp with time zone, trace text, gated boolean, run jsonb)
  sql stable set search_path=weir, pg_temp: What a worker holds from one claim.
function _left_pool(pool text, n integer DEFAULT 1) returns void
  plpgsql volatile set search_path=weir, pg_temp: Notes places of a pool that became free.
function _lock_at_plan(of_task uuid) returns weir.pending
  plpgsql volatile set enable_seqscan=off, jit=off, search_path=weir, pg_temp: Locks a task at the gate plan.
function _lock_keys(keys text[], lane boolean, patient boolean, t timestamp with time zone) returns text[]
  plpgsql volatile set search_path=weir, pg_temp: Locks keys and returns those that are locked.
function _make_available(rows tid[], t timestamp with time zone) returns integer
  plpgsql volatile set enable_nestloop=on, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: pending → available for tasks that passed every gate.
function _map_pools(names text[], t timestamp with time zone, locked boolean DEFAULT false) returns void
  plpgsql volatile set jit=off, search_path=weir, pg_temp: Makes the pools of maps, or makes them again.
function _mark_classes(ids integer[]) returns void
  plpgsql volatile set enable_seqscan=off, jit=off, search_path=weir, pg_temp: Marks classes anew.
function _mark_pools(names text[]) returns void
  plpgsql volatile set enable_bitmapscan=off, enable_seqscan=off, jit=off, search_path=weir, pg_temp: Counts pools and marks them anew.
function _may_decide(of_task uuid, names text[]) returns void
  plpgsql volatile set search_path=weir, pg_temp: WR403 if a decision is not for this caller; else it is noted.
function _next_gate(plan boolean, run_at timestamp with time zone, hold text, lane text, pool text, at timestamp with time zone) returns weir.gate
  sql immutable: The gate a task comes to stand at once its needs are met; null: none.
function _not_found(noun text, name text, hint text DEFAULT 'it may be misspelt, or older than the retention'::text, command text DEFAULT NULL::text) returns void
  sql volatile: Raises WR404.
function _note(did text, by text, reason text) returns text
  sql stable: Who did it and why.
function _note_wake(name text, step text, note text, data jsonb, by text, t timestamp with time zone) returns boolean
  plpgsql volatile set search_path=weir, pg_temp: Notes a step in the waking of a node.
function _notify_children(tasks uuid[]) returns void
  plpgsql volatile set search_path=weir, pg_temp: NOTIFY for jobs whose parent ended.
function _open(lanes text[], pools text[], t timestamp with time zone, patient boolean DEFAULT true, locked boolean DEFAULT false) returns integer
  plpgsql volatile set enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_nestloop=on, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Opens the lane and pool gates of these keys as far as they have room. Returns how many tasks became available.
function _open_due(n integer, t timestamp with time zone, just uuid DEFAULT NULL::uuid, OUT total integer, OUT lanes text[], OUT pools text[], OUT opened integer) returns record
  plpgsql volatile set enable_bitmapscan=off, enable_nestloop=on, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Opens time gates that are due: how many, the keys they now stand at, and how many became available.
function _open_pools(names text[], heads tid[], t timestamp with time zone, patient boolean DEFAULT true, enough integer DEFAULT 2000, held text[] DEFAULT NULL::text[]) returns integer
  plpgsql volatile set enable_bitmapscan=off, enable_nestloop=on, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Opens the pool gate of these pools.
function _opened_floor(c weir.classes, newest bigint) returns bigint
  sql stable: The lowest number that a task under -class may have.
function _own_node(node text) returns void
  plpgsql stable set search_path=weir, pg_temp: Refuses who speaks for a node of another role.
function _parse(tasks jsonb) returns weir.task_spec[]
  plpgsql stable set search_path=weir, pg_temp: Typed rows from a JSON array of tasks, or WR422.
function _partitions() returns TABLE(parent text, name text, lo timestamp with time zone, hi timestamp with time zone)
  sql stable set TimeZone=UTC, search_path=weir, pg_temp: Partitions and their range in time.
function _pc_heartbeat(n weir.nodes, slots integer, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Notes that a PC lives.
function _pc_left() returns trigger
  plpgsql volatile set search_path=weir, pg_temp: A PC leaves with its last worker.
function _pc_reason(n weir.nodes, p weir.pcs, t timestamp with time zone) returns jsonb
  sql stable: Why a PC gets no work, or null.
function _pc_resumed() returns trigger
  plpgsql volatile set search_path=weir, pg_temp: Ends the pause of a PC.
function _pc_slots(p weir.pcs) returns integer
  sql stable: The slots of a PC.
function _pc_state(n weir.nodes, p weir.pcs, t timestamp with time zone) returns text
  sql stable: The state of a PC in one word.
function _percentile(samples real[], p double precision) returns real
  sql immutable: The p-th part of the samples is not above this.
function _pick(keys integer[], firsts bigint[], priorities smallint[], of integer[], free integer[], n integer) returns tid[]
  plpgsql volatile set enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Locks the rows of a claim from several classes.
function _plain_key(key text) returns text
  sql immutable set search_path=weir, pg_temp: An idempotency key without its subject.
function _ports(ports int4multirange) returns text
  sql immutable: Ports in words.
function _raise(code text, field text, pattern text, args jsonb DEFAULT '[]'::jsonb, hint text DEFAULT NULL::text, command text DEFAULT NULL::text, data jsonb DEFAULT '{}'::jsonb, label text DEFAULT NULL::text) returns void
  plpgsql volatile: Raises a refusal with its field, pattern and arguments.
function _raise_floors() returns void
  plpgsql volatile set enable_seqscan=off, jit=off, search_path=weir, pg_temp: Moves the floors of the classes up. Writes only what moved.
function _rate_room_at(of_pool text, per interval, t timestamp with time zone) returns timestamp with time zone
  sql stable set search_path=weir, pg_temp: When a rate has room again at the earliest.
function _reclass(of_task uuid, to_priority integer, to_labels jsonb, event text, by text, t timestamp with time zone) returns boolean
  plpgsql volatile set search_path=weir, pg_temp: Gives a waiting task another class.
function _refuse(op text, tasks uuid[], attempts integer[], tokens uuid[], accepted uuid[], accepted_attempts integer[], t timestamp with time zone) returns TABLE(task uuid, refusal text, attempt integer)
  plpgsql volatile set enable_nestloop=on, jit=off, search_path=weir, pg_temp: Why calls were not accepted; each lost lease becomes an event of type stale.
function _refuse_owned(job uuid) returns void
  plpgsql volatile set search_path=weir, pg_temp: WR409 for what has commands of its own.
function _refuse_stale_edit(what text, name text, seen timestamp with time zone, is_at timestamp with time zone) returns void
  plpgsql volatile: Refuses a change to what somebody else changed meanwhile.
function _refuse_unreadable(tasks jsonb) returns void
  plpgsql stable set search_path=weir, pg_temp: Raises WR422 for the first field of the wrong type.
function _remove_waiting(of_task uuid, OUT was weir.state, OUT p weir.pending) returns record
  plpgsql volatile set enable_seqscan=off, jit=off, search_path=weir, pg_temp: Takes a pending or available task out of its table.
function _requeue(r weir.running, run_at timestamp with time zone, event text, message text, t timestamp with time zone, counts boolean DEFAULT true, reason text DEFAULT NULL::text) returns void
  plpgsql volatile set enable_nestloop=on, jit=off, search_path=weir, pg_temp: running → pending: retrying or snoozed.
function _restart_attempts(ended weir.finished[], t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Starts the count of attempts anew.
function _reuse_outcomes(in_job uuid, keys text[], t timestamp with time zone) returns void
  plpgsql volatile set enable_nestloop=on, jit=off, search_path=weir, pg_temp: Ends tasks as they ended in the job that theirs repeats.
function _revivable(jobs uuid[], given uuid[]) returns uuid[]
  plpgsql stable set enable_mergejoin=off, enable_nestloop=off, jit=off, search_path=weir, pg_temp: What ended because of tasks that live again.
function _revive(ended weir.finished[], by text, t timestamp with time zone, in_order boolean DEFAULT false, note text DEFAULT NULL::text) returns void
  plpgsql volatile set enable_nestloop=on, jit=off, search_path=weir, pg_temp: finished → pending for tasks and what ended because of them.
function _revive_of_fleet(tasks uuid[]) returns void
  plpgsql stable set search_path=weir, pg_temp: WR409 for a run of a fleet job.
function _rollout(id uuid) returns weir.rollouts
  plpgsql volatile set search_path=weir, pg_temp: The row of a rollout, with the lock of its commands, or WR404.
function _rollout_answer(did text, id uuid) returns text
  sql stable set search_path=weir, pg_temp: What was done, and what comes next.
function _rollout_counted() returns trigger
  plpgsql volatile security definer set search_path=weir, pg_temp: Trigger: the holds of a rollout follow the ends of its tasks.
function _rollout_database_lock(name text) returns void
  sql volatile: The lock of the name of a database.
function _rollout_did(code text, by text, note text) returns jsonb
  sql stable: A reason that is a command of somebody.
function _rollout_facts(ids uuid[]) returns jsonb
  plpgsql stable set enable_bitmapscan=off, enable_hashjoin=off, enable_incremental_sort=off, enable_mergejoin=off, enable_seqscan=off, enable_sort=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: The tasks of rollouts as their gates see them, in groups.
function _rollout_hash(plan jsonb) returns text
  sql immutable: The hash of a frozen plan.
function _rollout_hold_changes(facts jsonb, stages jsonb) returns TABLE(rollout uuid, stage smallint, canary boolean, state text, hold jsonb, fresh boolean, proven boolean, n integer, want jsonb)
  plpgsql stable set jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: The holds of rollouts that should be others.
function _rollout_mark_lost(r weir.rollouts, facts jsonb, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Marks runs whose executor was lost, and lanes that they block.
function _rollout_of(task uuid) returns weir.rollouts
  plpgsql volatile set search_path=weir, pg_temp: The rollout of a task, or WR404.
function _rollout_refuse_ended(r weir.rollouts) returns void
  plpgsql volatile set search_path=weir, pg_temp: WR409 for a rollout that has ended or was aborted.
function _rollout_replaced(id uuid, hash text) returns weir.rollouts
  plpgsql volatile set search_path=weir, pg_temp: The rollout to be edited, or WR409.
function _rollout_resolved(r weir.rollouts, task uuid, verdict text, note text, by text, at timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Writes down what became of an unknown run.
function _rollout_retry_task(r weir.rollouts, task uuid, by text, at timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Retries a task.
function _rollout_settle(id uuid, t timestamp with time zone, OUT changed integer, OUT lanes text[], OUT pools text[]) returns record
  plpgsql volatile set jit=off, search_path=weir, pg_temp: Holds and releases the tasks of a rollout as its gates say. Returns how many changed, and the keys to open.
function _rollout_settle_and_open(id uuid, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: Settles and opens.
function _rollout_specs(plan jsonb, hold text, pool text) returns TABLE(n bigint, stage integer, database text, change integer, version text, name text, kind text, canary boolean, key text, spec jsonb)
  sql immutable: The tasks of a plan as the engine takes them.
function _rollout_stage(id uuid, stage text) returns weir.rollout_stages
  plpgsql volatile set search_path=weir, pg_temp: A stage by name, or WR404.
function _rollout_stages(facts jsonb) returns TABLE(rollout uuid, n smallint, name text, earlier text, complete boolean, begins boolean, gate text, waits jsonb, canary_left integer, canary jsonb, stopped jsonb, open integer, left_first integer, active integer)
  plpgsql stable set jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: How far each stage is and what it waits for.
function _rollout_tasks_to_change(id uuid, wants jsonb) returns TABLE(task uuid, state text, want jsonb, said text)
  plpgsql stable set enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: The tasks whose holds should be others.
function _rollout_waits_start(id uuid) returns jsonb
  sql immutable: The hold of a rollout that was not started.
function _rollout_write_state(r weir.rollouts, stages jsonb, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: The state of a rollout and of its stages.
function _rollout_wrong_holds(ids uuid[]) returns TABLE(rollout uuid, state text, hold jsonb, n integer, want jsonb)
  plpgsql stable set search_path=weir, pg_temp: What is wrong with the holds of rollouts.
function _run_deferred() returns void
  plpgsql volatile set search_path=weir, pg_temp: Runs the deferred triggers of this transaction.
function _run_ended() returns trigger
  plpgsql volatile security definer set search_path=weir, pg_temp: Trigger: what follows a run of a workflow that ended.
function _run_key(name text, due timestamp with time zone) returns text
  sql immutable set search_path=weir, pg_temp: The idempotency key of a run of a schedule.
function _scheduled_task_of_fleet(params jsonb, jitter interval) returns void
  plpgsql stable set search_path=weir, pg_temp: WR422 for a schedule of a bad fleet job.
function _seconds(span interval) returns numeric
  sql immutable: A span in a reason.
function _sentence(reason jsonb) returns text
  plpgsql stable set search_path=weir, pg_temp: A reason in English.
function _serves(n weir.nodes, service text, labels jsonb, t timestamp with time zone) returns boolean
  sql stable set search_path=weir, pg_temp: Whether a node could do work of a service with these labels.
function _set_aside(of_task uuid, doing text, code text, message text, t timestamp with time zone) returns void
  plpgsql volatile set search_path=weir, pg_temp: A task that could not be moved, with the error.
function _set_clock(at timestamp with time zone) returns timestamp with time zone
  plpgsql stable: A time set by the owner, else WR422.
function _set_wait_limits(in_job uuid, patience jsonb) returns void
  sql volatile set search_path=weir, pg_temp: Writes the patience of tasks of a job.
function _settle(ended uuid[], INOUT lanes text[], INOUT pools text[], t timestamp with time zone, of uuid[] DEFAULT NULL::uuid[], counted boolean DEFAULT false) returns record
  plpgsql volatile set enable_nestloop=on, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Counts dependents down, skips what cannot run, closes jobs. Adds the lanes and pools its tasks now stand at.
function _sleep_if_idle(node integer, t timestamp with time zone) returns boolean
  plpgsql volatile set search_path=weir, pg_temp: Whether a node is to go to sleep now; marks it asleep.
function _span(span interval) returns text
  plpgsql immutable: A span of time for people.
function _state_of(of_task uuid) returns weir.state
  sql stable set enable_seqscan=off, jit=off, search_path=weir, pg_temp: The state of a task.
function _strike(r weir.running) returns integer
  plpgsql volatile set search_path=weir, pg_temp: Counts a lost lease: how many are evidence against the task.
function _subject_key(key text) returns text
  sql stable set search_path=weir, pg_temp: An idempotency key with the subject that it belongs to.
function _submit(specs weir.task_spec[], in_job uuid, job_order bigint, t timestamp with time zone, job_priority integer DEFAULT 0, job_trace text DEFAULT NULL::text) returns TABLE(n integer, task uuid, existed boolean)
  plpgsql volatile set plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Writes parsed tasks and their first events.
function _take_horizon() returns void
  plpgsql volatile set search_path=weir, pg_temp: Notes the last order_seq and a transaction id newer than all that drew one up to it.
function _take_key(key text, id uuid, body jsonb) returns uuid
  plpgsql volatile set search_path=weir, pg_temp: The job that has an idempotency key: the new one, or an older.
function _tasks_by_key(of_job uuid, keys text[]) returns uuid[]
  sql stable set enable_mergejoin=off, enable_nestloop=off, jit=off, search_path=weir, pg_temp: Tasks of a job by their keys.
function _tend_chains(t timestamp with time zone, OUT lanes text[], OUT pools text[]) returns record
  plpgsql volatile set search_path=weir, pg_temp: Goes on with chains that ended in part.
function _tend_gates(lanes text[], pools text[], t timestamp with time zone) returns integer
  plpgsql volatile set search_path=weir, pg_temp: Opens keys, whatever one of them does.
function _tend_leases(n integer, t timestamp with time zone, just uuid DEFAULT NULL::uuid, OUT total integer, OUT lanes text[], OUT pools text[]) returns record
  plpgsql volatile set search_path=weir, pg_temp: Ends leases that ran out: how many, and which keys they freed.
function _tend_singly(doing text, n integer, t timestamp with time zone, OUT total integer, OUT lanes text[], OUT pools text[], OUT opened integer) returns record
  plpgsql volatile set lock_timeout=20ms, search_path=weir, pg_temp: Ends leases or opens time gates one by one, whatever one of them does.
function _test_report_found() returns trigger
  plpgsql volatile security definer set search_path=weir, pg_temp: Trigger: a report of tests is to be read.
function _text(message text) returns text
  sql immutable: At most 8,000 characters.
function _tidy_starts(pools text[], t timestamp with time zone) returns void
  plpgsql volatile set enable_seqscan=off, jit=off, search_path=weir, pg_temp: Keeps the starts of pools few.
function _trigger_ring(except_for text, after text, workflow text) returns text[]
  plpgsql stable set search_path=weir, pg_temp: The ring of workflows that a trigger would close.
function _try_open(lanes text[], pools text[], t timestamp with time zone) returns integer
  plpgsql volatile set search_path=weir, pg_temp: Opens keys; an error stops nobody but them.
function _ungranted() returns SETOF text
  sql stable set search_path=weir, pg_temp: The roles and grants that are missing.
function _unknown_users(names text[]) returns text[]
  sql stable set search_path=weir, pg_temp: Names that no user has.
function _unserved_work(within interval, t timestamp with time zone, without integer DEFAULT NULL::integer) returns TABLE(service text, labels jsonb, due timestamp with time zone, what text)
  sql stable set jit=off, search_path=weir, pg_temp: Work that is due soon and that nobody who is awake can do.
function _wait_for_keys(keys text[], lane boolean, whole boolean, wait text) returns boolean
  plpgsql volatile set lock_timeout=300ms, search_path=weir, pg_temp: Takes the locks of keys, or gives up.
function _waiting_keys(OUT lanes text[], OUT pools text[]) returns record
  plpgsql stable set enable_bitmapscan=off, enable_seqscan=off, jit=off, search_path=weir, pg_temp: Keys with tasks waiting at them.
function _wake_next(n weir.nodes) returns timestamp with time zone
  sql immutable: When a node may be tried again.
function _wake_timeout(n weir.nodes) returns interval
  sql immutable: How long a node may take to wake.
function _why(of_task uuid, t timestamp with time zone) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  plpgsql stable set search_path=weir, pg_temp: Why a task waits, with reasons for programs.
function _why_ask(p weir.pending) returns jsonb
  sql stable set search_path=weir, pg_temp: What a held task asks for.
function _why_asleep(service text, labels jsonb, t timestamp with time zone, OUT reason jsonb, OUT since timestamp with time zone) returns record
  sql stable set search_path=weir, pg_temp: Which sleeping node a task waits for.
function _why_ended(of_task uuid) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  sql stable set search_path=weir, pg_temp: How a task ended.
function _why_ended_of_workflow(of_job uuid, t timestamp with time zone) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  sql stable set search_path=weir, pg_temp: What the end of a run has started.
function _why_job(of_job uuid, t timestamp with time zone) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  plpgsql stable set search_path=weir, pg_temp: Why a job is where it is, with reasons for programs.
function _why_job_of_fleet(of_job uuid, t timestamp with time zone) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  sql stable set search_path=weir, pg_temp: What a fleet job waits for.
function _why_job_of_workflow(of_job uuid, t timestamp with time zone) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  sql stable set search_path=weir, pg_temp: Which nodes are woken for a job.
function _why_lane(q weir.tasks, p weir.pending) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  plpgsql stable set search_path=weir, pg_temp: Why a task waits at its lane.
function _why_name(task uuid, job uuid) returns jsonb
  sql stable set search_path=weir, pg_temp: What people call a task that stands in the way of another.
function _why_needs(q weir.tasks, p weir.pending) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  plpgsql stable set search_path=weir, pg_temp: Why a task waits for others.
function _why_of(what text, kind text, id uuid, t timestamp with time zone) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  plpgsql stable set search_path=weir, pg_temp: What the domain of a job adds to weir.why.
function _why_plan(q weir.tasks, p weir.pending) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  plpgsql stable set search_path=weir, pg_temp: Why a task waits at the gate plan.
function _why_pool(pool_name text, p weir.pending, t timestamp with time zone) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  plpgsql stable set search_path=weir, pg_temp: Why a task waits at its pool.
function _why_task_of_rollout(of_task uuid, t timestamp with time zone) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  sql stable set search_path=weir, pg_temp: What a run of a rollout waits for.
function _why_time(q weir.tasks, p weir.pending, t timestamp with time zone) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  sql stable set search_path=weir, pg_temp: Why a task waits for its time.
function _why_unclaimed(q weir.tasks, c weir.classes, t timestamp with time zone) returns TABLE(gate text, open boolean, reason jsonb, blocker uuid, since timestamp with time zone)
  plpgsql stable set search_path=weir, pg_temp: Why an available task has not started.
function _words(code text) returns text
  sql immutable: The words of a reason, with places for its arguments.
function _worker(worker text, services text[], t timestamp with time zone) returns weir.workers
  plpgsql volatile set search_path=weir, pg_temp: The row of a worker, made if it is new.
function _workspace_conditions(was jsonb, seen jsonb, t timestamp with time zone) returns jsonb
  sql stable set search_path=weir, pg_temp: Conditions with the times of their changes.
function _workspace_room(of_user uuid, except_for uuid) returns void
  plpgsql volatile set search_path=weir, pg_temp: Refuses a start over a limit.
function _write_job_tasks(specs weir.task_spec[], of uuid[], base integer, known_keys text[], known_ids uuid[], t timestamp with time zone, OUT ids uuid[], OUT lanes text[], OUT pools text[]) returns record
  plpgsql volatile set enable_mergejoin=off, enable_nestloop=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Writes tasks that join jobs.
function add_tasks(job uuid, tasks jsonb, params jsonb DEFAULT NULL::jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(key text, task uuid)
  plpgsql volatile security definer set enable_mergejoin=off, enable_nestloop=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Adds tasks to a live job, or builds a queued one. Returns the task of each key.
function adopt_restore(another boolean DEFAULT NULL::boolean) returns bigint
  plpgsql volatile security definer set search_path=weir, pg_temp: Makes a database that was loaded from a dump go on in another cluster. Returns how many events it moved.
function analyze_parents() returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: ANALYZE of the partitioned tables.
function bound_slots(node text, services text[], slots integer[], n integer) returns integer[]
  sql stable security definer set search_path=weir, pg_temp: The slots for which a node may claim, of those it asks for.
function cancel(task uuid, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: Cancels a task: canceled, or requested when a worker must stop first.
function cancel_job(job uuid, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT canceled integer, OUT requested integer) returns record
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Cancels every task of a job that has not ended.
function claim(worker text, services text[], n integer DEFAULT 1, slots integer[] DEFAULT NULL::integer[], claim_id uuid DEFAULT NULL::uuid, lease interval DEFAULT '00:00:30'::interval, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(task uuid, attempt integer, token uuid, service text, params jsonb, job uuid, key text, until timestamp with time zone, deadline timestamp with time zone, max_attempts integer, claimed_at timestamp with time zone, trace text, gated boolean, run jsonb)
  plpgsql volatile security definer set enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Leases up to n tasks of these services to a worker and returns them in order. The same claim_id again returns the same leases.
function fleet.claim_task_devices_for_pc(pc text, max_to_claim integer DEFAULT 1, lease interval DEFAULT '00:00:45'::interval, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns SETOF fleet.task_devices
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Leases runs to a PC for its idle devices.
function close_job(job uuid, outcome text, cause text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Ends a queued job that has no tasks.
function fleet.complete_task_device(task_device_id uuid, pc text, result jsonb DEFAULT NULL::jsonb, attempt integer DEFAULT NULL::integer, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns fleet.task_devices
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Ends a run as completed.
function confirm_cancel(task uuid, attempt integer, token uuid, note text DEFAULT NULL::text, hint boolean DEFAULT true, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: Ends a leased task as canceled after somebody asked for it.
function decide(task uuid, outcome text, result jsonb DEFAULT NULL::jsonb, cause text DEFAULT NULL::text, passes boolean DEFAULT false, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Ends a waiting task as done, failed or skipped without running it. False: it does not wait any more.
function device_maintain(serial text, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, until timestamp with time zone DEFAULT NULL::timestamp with time zone, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  sql volatile security definer set search_path=weir, pg_temp: Takes a device out of the schedule for maintenance.
function device_quarantine(serial text, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  sql volatile security definer set search_path=weir, pg_temp: Puts a device out.
function device_release(serial text, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, holder text DEFAULT NULL::text, others boolean DEFAULT false, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Gives a device back to the schedule.
function device_reserve(serial text, until timestamp with time zone, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, holder text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Reserves a device for a person until a time.
function device_retire(serial text, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  sql volatile security definer set search_path=weir, pg_temp: Takes a device out for good.
function doctor(deep boolean DEFAULT false, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(name text, ok boolean, level text, detail text)
  plpgsql stable security definer set jit=off, search_path=weir, pg_temp: Checks every invariant of the database.
function drop_node(name text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Forgets a node that is gone, with its credential.
function drop_partitions(keep interval, need_export boolean DEFAULT false, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text[]
  plpgsql volatile security definer set TimeZone=UTC, jit=off, search_path=weir, pg_temp: Drops partitions older than keep and returns their names.
function drop_pool(name text, force boolean DEFAULT false, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Deletes a pool.
function drop_schedule(name text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Deletes a schedule.
function drop_secret(name text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Removes a secret.
function drop_trigger(name text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Deletes a trigger.
function drop_workflow(name text, version integer DEFAULT NULL::integer, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Deletes a version of a workflow, or all of them. Jobs keep what they ran.
function ensure_partitions(days integer DEFAULT 7, ahead interval DEFAULT '14 days'::interval, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text[]
  plpgsql volatile security definer set TimeZone=UTC, search_path=weir, pg_temp: Makes partitions ahead of time and returns their names.
function events_after(after text DEFAULT '0.0'::text, n integer DEFAULT 1000, only_job uuid DEFAULT NULL::uuid, only_task uuid DEFAULT NULL::uuid) returns TABLE(cursor text, seq bigint, at timestamp with time zone, type text, kind text, subject text, job uuid, task uuid, attempt integer, worker text, source text, level text, message text, data jsonb)
  plpgsql stable security definer set enable_seqscan=off, jit=off, search_path=weir, pg_temp: The timeline after a cursor, without gaps.
function events_tail() returns text
  sql stable security definer set search_path=weir, pg_temp: The cursor of the end of the timeline.
function expire(n integer DEFAULT 500, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set search_path=weir, pg_temp: Ends leases that ran out. Returns how many.
function fail(task uuid, attempt integer, token uuid, error text, final boolean DEFAULT false, retry_at timestamp with time zone DEFAULT NULL::timestamp with time zone, hint boolean DEFAULT true, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: Ends a leased attempt as failed: ok, repeated, lease_lost or unknown.
function fail_many(tasks uuid[], attempts integer[], tokens uuid[], errors text[], final boolean[] DEFAULT NULL::boolean[], retry_at timestamp with time zone[] DEFAULT NULL::timestamp with time zone[], hint boolean DEFAULT true, reasons text[] DEFAULT NULL::text[], at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(task uuid, refusal text, attempt integer)
  plpgsql volatile security definer set enable_bitmapscan=off, enable_mergejoin=off, enable_nestloop=off, enable_seqscan=off, jit=off, search_path=weir, pg_temp: Ends leased attempts as failed: retried with back-off while attempts are left. Returns only those that were refused.
function fleet.fail_or_retry_task_device(task_device_id uuid, pc text, error text DEFAULT NULL::text, attempt integer DEFAULT NULL::integer, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns fleet.task_devices
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Ends an attempt as failed: it is tried again, or has failed for good.
function fenced(lock_name text, epoch bigint) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Refuses the writes of a leader whose term is over.
function finish(task uuid, attempt integer, token uuid, result jsonb DEFAULT NULL::jsonb, hint boolean DEFAULT true, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: Ends a leased task as done: ok, repeated, lease_lost or unknown.
function finish_many(tasks uuid[], attempts integer[], tokens uuid[], results jsonb[] DEFAULT NULL::jsonb[], hint boolean DEFAULT true, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(task uuid, refusal text, attempt integer)
  plpgsql volatile security definer set enable_bitmapscan=off, enable_mergejoin=off, enable_nestloop=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Ends leased tasks as done. Returns only those that were refused.
function fire_schedule(name text, was timestamp with time zone, due timestamp with time zone[], next_at timestamp with time zone, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid[]
  plpgsql volatile security definer set search_path=weir, pg_temp: Submits due runs of a schedule exactly once.
function fire_schedules(runs jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  sql volatile security definer set jit=off, search_path=weir, pg_temp: Submits due runs of many schedules exactly once.
function fleet_cancel(job uuid, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT canceled integer, OUT requested integer) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Cancels a fleet job.
function fleet_claim(worker text, pc text, max integer DEFAULT 20, lease interval DEFAULT '00:00:45'::interval, claim_id uuid DEFAULT NULL::uuid, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(task uuid, attempt integer, token uuid, service text, params jsonb, job uuid, key text, until timestamp with time zone, deadline timestamp with time zone, max_attempts integer, claimed_at timestamp with time zone, trace text, gated boolean, run jsonb, device integer, serial text, target text)
  plpgsql volatile security definer set enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Leases work to a PC for its idle devices, within its slots. The same claim_id again returns the same leases.
function fleet_fail(task uuid, attempt integer, token uuid, error text, infra boolean DEFAULT false, harmless boolean DEFAULT false, final boolean DEFAULT false, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: Ends an attempt on a device as failed, by the test or by the infrastructure.
function fleet_report(pc text, devices jsonb, slots integer DEFAULT NULL::integer, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(task uuid, attempt integer, why text)
  plpgsql volatile security definer set enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: The devices that a PC sees. Returns attempts that it must stop.
function fleet_submit(name text, spec jsonb, by text DEFAULT NULL::text, idempotency_key text DEFAULT NULL::text, schedule text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Submits a job for devices of the fleet and returns its id.
function fleet_tend(at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT offline integer, OUT missed integer, OUT more boolean) returns record
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: One bounded pass of everything that time alone brings about for fleets.
function fleet_tidy(at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set search_path=weir, pg_temp: Forgets fleet jobs that the engine has forgotten.
function fleet_trouble(pc text, trouble text DEFAULT NULL::text, blind boolean DEFAULT false, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: What a PC says of its look for devices.
function fleet_unclean(task uuid, attempt integer, token uuid, error text) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: The clean-up after an attempt on a device failed.
function fleet_why(job uuid, most integer DEFAULT 500, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(device text, pc text, why text, code text, args jsonb)
  sql stable security definer set jit=off, search_path=weir, pg_temp: Why a fleet job is not further: in one line, and per device.
function fleet.fn_timeout_tasks_and_task_devices(at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set search_path=weir, pg_temp: One pass of what time brings about.
function foreign_leases(node text, tasks uuid[], attempts integer[], tokens uuid[]) returns TABLE(task uuid, attempt integer)
  plpgsql stable security definer set plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: The live leases among these that are not held by the node.
function forward_end(id uuid, why text, sent bigint DEFAULT 0, received bigint DEFAULT 0, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: A forward ended.
function forward_join(id uuid, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: A forward was taken up by the agent.
function forward_keep(id uuid, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT ends text, OUT refused text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Whether a forward may go on.
function forward_open(id uuid, serial text, port integer, by text DEFAULT NULL::text, holder text DEFAULT NULL::text, forced boolean DEFAULT false, server text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: Asks the agent of a device's PC for a forward.
function forward_orders(pc text, ports text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(id uuid, serial text, port integer)
  plpgsql volatile security definer set search_path=weir, pg_temp: The forwards that a PC's agent should take up.
function forward_refuse(id uuid, pc text, why text) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: An agent does not take up a forward.
function give_back_many(tasks uuid[], attempts integer[], tokens uuid[], until timestamp with time zone DEFAULT NULL::timestamp with time zone, note text DEFAULT NULL::text, hint boolean DEFAULT true, fault text DEFAULT NULL::text, begun boolean DEFAULT false, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(task uuid, refusal text, attempt integer)
  plpgsql volatile security definer set enable_bitmapscan=off, enable_mergejoin=off, enable_nestloop=off, enable_seqscan=off, jit=off, search_path=weir, pg_temp: Returns leased tasks without spending an attempt; until: not before then (snooze). Returns only those that were refused.
function heartbeat(worker text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT mode text, OUT tended boolean, OUT labels jsonb, OUT capacity jsonb, OUT sleep boolean) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Keeps a worker and its node alive.
function hold(task uuid, by text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Holds a waiting task until it is released.
function inputs(node text, task uuid, attempt integer, token uuid) returns TABLE(step text, name text, bucket text, object text, size bigint, sha256 text)
  plpgsql stable security definer set enable_seqscan=off, jit=off, search_path=weir, pg_temp: The artifacts that a leased task asked for.
function lead(lock_name text, holder text, ttl interval DEFAULT '00:00:15'::interval, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns bigint
  plpgsql volatile security definer set search_path=weir, pg_temp: Takes or renews the lead and returns its epoch; null: another leads.
function leased(node text, task uuid, attempt integer, token uuid) returns TABLE(job uuid, key text, run jsonb)
  plpgsql stable security definer set search_path=weir, pg_temp: The job, key and run of a task that the node holds; WR410 if it does not.
function leased_many(node text, tasks uuid[], attempts integer[], tokens uuid[]) returns TABLE(task uuid, attempt integer, job uuid, key text)
  plpgsql stable security definer set plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: The job and key of those tasks of these leases that the node holds.
function log_event(level text, type text, message text DEFAULT NULL::text, data jsonb DEFAULT NULL::jsonb, job uuid DEFAULT NULL::uuid, task uuid DEFAULT NULL::uuid, source text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns bigint
  plpgsql volatile security definer set search_path=weir, pg_temp: Adds an event to the timeline without a lease: about a job, a task or neither. Returns its number.
function mark_exported(partition text, location text, rows bigint, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Notes that a partition of the timeline was exported and may be dropped.
function note_bulk(kind text, action text, filter jsonb, matched integer, changed integer, refused integer DEFAULT 0, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Says in the timeline what was done to all tasks or jobs of a filter.
function note_pool(name text, note text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Changes the note of a pool.
function note_wake(name text, step text, note text DEFAULT NULL::text, data jsonb DEFAULT NULL::jsonb, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Notes a step in the waking of a node: waking, called, awake, failed or asleep.
function open_gates(lanes text[] DEFAULT NULL::text[], pools text[] DEFAULT NULL::text[], hint boolean DEFAULT true, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set search_path=weir, pg_temp: Opens lane and pool gates that have room. Returns how many tasks became available.
function open_job(name text, kind text DEFAULT 'job'::text, priority integer DEFAULT 0, params jsonb DEFAULT NULL::jsonb, due timestamp with time zone DEFAULT NULL::timestamp with time zone, idempotency_key text DEFAULT NULL::text, trace text DEFAULT NULL::text, definition uuid DEFAULT NULL::uuid, schedule text DEFAULT NULL::text, parent uuid DEFAULT NULL::uuid, origin uuid DEFAULT NULL::uuid, options jsonb DEFAULT NULL::jsonb, order_seq bigint DEFAULT NULL::bigint, scheduled_at timestamp with time zone DEFAULT NULL::timestamp with time zone, id uuid DEFAULT NULL::uuid, hint boolean DEFAULT true, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Opens a job without tasks and returns its id. It is queued until weir.add_tasks builds it.
function pause_trigger(name text, paused boolean DEFAULT true, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Stops a trigger, or lets it go on.
function pc_slots(pc text) returns integer
  sql stable security definer set search_path=weir, pg_temp: The slots of a PC.
function plan_task(task uuid, params jsonb DEFAULT NULL::jsonb, labels jsonb DEFAULT NULL::jsonb, run jsonb DEFAULT NULL::jsonb, hold text DEFAULT NULL::text, run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Gives a task at the gate plan its final form and lets it go on. False: it does not stand there any more.
function plan_wakes(at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns jsonb
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Notes which nodes woke and which did not, and returns those to be woken now.
function put_secret(name text, sealed bytea, key_id text, version integer, by text DEFAULT NULL::text, note text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Stores a sealed secret; false: somebody else has set it meanwhile.
function put_workflow(name text, definition jsonb, version integer DEFAULT NULL::integer, source text DEFAULT NULL::text, active boolean DEFAULT true, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT id uuid, OUT stored integer, OUT created boolean) returns record
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Stores a version of a workflow and returns its id, its version and whether it is new.
function record(task uuid, attempt integer, token uuid, type text, message text DEFAULT NULL::text, data jsonb DEFAULT NULL::jsonb, level text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: Adds an event to a leased task: ok, lease_lost or unknown.
function record_artifact(task uuid, attempt integer, token uuid, kind text, name text, bucket text, key text, size bigint, content_type text DEFAULT 'application/octet-stream'::text, sha256 text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: Notes an object of a leased task: ok, lease_lost or unknown.
function record_many(node text, tasks uuid[], attempts integer[], tokens uuid[], types text[], messages text[], data jsonb[], levels text[], at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(task uuid, refusal text, attempt integer)
  plpgsql volatile security definer set jit=off, plan_cache_mode=force_generic_plan, search_path=weir, pg_temp: Adds events to tasks that a node has leased. Returns only what was refused.
function refuse(task uuid, reason text, by text DEFAULT NULL::text, names text[] DEFAULT NULL::text[], at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Ends a held task as failed: a person decided that it must not run.
function register_node(name text, labels jsonb DEFAULT '{}'::jsonb, capacity jsonb DEFAULT '{}'::jsonb, version text DEFAULT NULL::text, drivers text[] DEFAULT NULL::text[], isolation text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set search_path=weir, pg_temp: Registers a node or changes its labels, capacity, version and drivers, within what it may have.
function register_worker(name text, services text[], node text DEFAULT NULL::text, labels jsonb DEFAULT '{}'::jsonb, holder text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set search_path=weir, pg_temp: Registers a worker.
function relabel(task uuid, labels jsonb, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Changes the labels of a waiting task. False: it does not wait any more.
function release(task uuid, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, names text[] DEFAULT NULL::text[], at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Releases a held task.
function renew(worker text, tasks uuid[], attempts integer[], tokens uuid[], lease interval DEFAULT '00:00:30'::interval, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(task uuid, refusal text, attempt integer)
  plpgsql volatile security definer set enable_bitmapscan=off, enable_mergejoin=off, enable_nestloop=off, enable_seqscan=off, jit=off, search_path=weir, pg_temp: Prolongs leases and returns those that are lost or asked to cancel.
function fleet.renew_task_device_lease(task_device_id uuid, pc text, lease interval DEFAULT '00:00:45'::interval, attempt integer DEFAULT NULL::integer, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns fleet.task_devices
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Prolongs the lease of a run.
function repair_floors() returns integer
  plpgsql volatile security definer set lock_timeout=5s, search_path=weir, pg_temp: Brings back tasks that a floor hides. Returns how many.
function report_faults(node text, faults jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Replaces what is broken on a node, by service.
function reschedule_job(job uuid, due timestamp with time zone DEFAULT NULL::timestamp with time zone, priority integer DEFAULT NULL::integer, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Changes the time or the priority of a queued job.
function reseal_secret(name text, version integer, was_key text, sealed bytea, key_id text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Replaces the seal of a secret, not its value.
function resign(lock_name text, holder text, epoch bigint) returns void
  sql volatile security definer set search_path=weir, pg_temp: Ends a term early.
function retry(task uuid, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Runs a task again that ended other than done.
function retry_job(job uuid, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Runs again what failed or was canceled of a job. Returns how many tasks.
function rollout_abort(id uuid, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT changed boolean, OUT answer text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Aborts a rollout.
function rollout_approve(id uuid, stage text, by text, note text DEFAULT NULL::text, hash text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT changed boolean, OUT answer text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Approves a stage of a rollout.
function rollout_brief(task uuid, attempt integer, token uuid, worker text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT code text, OUT problem text, OUT rollout uuid, OUT key text, OUT run_by text, OUT out_of_order boolean, OUT database text, OUT engine text, OUT secret text, OUT identity text, OUT change jsonb, OUT sql text, OUT first boolean, OUT base text, OUT drifted boolean) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: What a leased task is to do, or why it must not.
function rollout_cancel(task uuid, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT changed boolean, OUT answer text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Cancels a run of a rollout.
function rollout_checked(name text, identity text DEFAULT NULL::text, server text DEFAULT NULL::text, version text DEFAULT NULL::text, rank bigint DEFAULT NULL::bigint, fault text DEFAULT NULL::text, seen timestamp with time zone DEFAULT NULL::timestamp with time zone, accept boolean DEFAULT false, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: What a look at a database found.
function rollout_create(plan jsonb, texts jsonb, warnings jsonb DEFAULT '[]'::jsonb, note text DEFAULT NULL::text, idempotency_key text DEFAULT NULL::text, replaces uuid DEFAULT NULL::uuid, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Freezes a plan and makes its rollout. Returns its id, which is that of its job.
function rollout_drop_database(name text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: Forgets a database.
function rollout_ended(task uuid, attempt integer, token uuid, code text DEFAULT NULL::text, unknown boolean DEFAULT false, note text DEFAULT NULL::text, version text DEFAULT NULL::text, rank bigint DEFAULT NULL::bigint, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: How a run ended, as its executor knows it.
function rollout_freeze(plan jsonb) returns jsonb
  plpgsql stable security definer set search_path=weir, pg_temp: A plan with its databases written out.
function rollout_pause(id uuid, by text DEFAULT NULL::text, note text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT changed boolean, OUT answer text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Pauses a rollout.
function rollout_phase(task uuid, attempt integer, token uuid, phase text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: How far a run is, before it acts.
function rollout_promote(id uuid, stage text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT changed boolean, OUT answer text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Promotes a stage.
function rollout_put_database(name text, engine text, environment text, secret text, labels jsonb DEFAULT '{}'::jsonb, note text DEFAULT NULL::text, by text DEFAULT NULL::text, moved boolean DEFAULT false, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Registers a database; true: it is new.
function rollout_resolve(task uuid, applied boolean, reason text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT changed boolean, OUT answer text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Says what became of an unknown run.
function rollout_resume(id uuid, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT changed boolean, OUT answer text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Resumes a rollout.
function rollout_retry(task uuid, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT changed boolean, OUT answer text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Retries a task of a rollout.
function rollout_revoke(id uuid, stage text, by text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT changed boolean, OUT answer text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Takes an approval back.
function rollout_says(task uuid, attempt integer, token uuid, type text, message text, data jsonb DEFAULT NULL::jsonb, quiet boolean DEFAULT false, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text
  plpgsql volatile security definer set search_path=weir, pg_temp: A line of a run's log, and what it waits for.
function rollout_skip(task uuid, reason text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT changed boolean, OUT answer text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Skips a task of a rollout.
function rollout_snapshot(database text, hash text, text text, by text DEFAULT NULL::text, drifted boolean DEFAULT false, accept boolean DEFAULT false, follows text DEFAULT NULL::text, mixed text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: The schema of a database to compare with.
function rollout_start(id uuid, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT changed boolean, OUT answer text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Starts a rollout.
function rollout_sweep(at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set search_path=weir, pg_temp: Settles a rollout that needs it.
function rollout_tidy(at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set search_path=weir, pg_temp: Forgets rollouts that the engine has forgotten.
function rollout_verdict(task uuid, attempt integer, verdict text, note text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: What the resolver found out about an unknown run.
function set_fleet_policy(change jsonb, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns jsonb
  plpgsql volatile security definer set search_path=weir, pg_temp: Changes the policy of the fleet and returns it.
function set_job_note(job uuid, note text) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Says what a queued job waits for.
function set_node(name text, labels jsonb DEFAULT NULL::jsonb, capacity jsonb DEFAULT NULL::jsonb, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Changes the labels and the capacity of a node.
function set_node_mode(name text, mode text, note text DEFAULT NULL::text, until timestamp with time zone DEFAULT NULL::timestamp with time zone, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Drains, pauses or activates a node.
function set_pool(name text, size integer DEFAULT NULL::integer, rate integer DEFAULT NULL::integer, per interval DEFAULT NULL::interval, note text DEFAULT NULL::text, by text DEFAULT NULL::text, seen timestamp with time zone DEFAULT NULL::timestamp with time zone, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Creates or changes a pool.
function set_priority(task uuid, priority integer, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Changes the priority of a waiting task.
function set_schedule(name text, spec text, task jsonb, next_at timestamp with time zone, zone text DEFAULT 'UTC'::text, missed text DEFAULT 'one'::text, paused boolean DEFAULT false, by text DEFAULT NULL::text, seen timestamp with time zone DEFAULT NULL::timestamp with time zone, workflow text DEFAULT NULL::text, options jsonb DEFAULT NULL::jsonb, overlap text DEFAULT 'allow'::text, catch_up interval DEFAULT NULL::interval, jitter interval DEFAULT NULL::interval, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Creates or changes a schedule. The same call again changes nothing.
function set_slots(pc text, slots integer, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: How many devices of a PC work at once.
function set_trigger(name text, workflow text, after text DEFAULT NULL::text, outcome text DEFAULT 'done'::text, condition text DEFAULT NULL::text, params jsonb DEFAULT NULL::jsonb, paused boolean DEFAULT false, by text DEFAULT NULL::text, seen timestamp with time zone DEFAULT NULL::timestamp with time zone, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Creates or changes a trigger. The same call again changes nothing.
function set_wake(name text, method text DEFAULT NULL::text, params jsonb DEFAULT '{}'::jsonb, sleep_after interval DEFAULT NULL::interval, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Says how a node is woken, and after how long with nothing to do it may sleep.
function set_workflow(name text, version integer, active boolean, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Activates or deactivates a version of a workflow.
function set_workspace_policy(change jsonb, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns jsonb
  plpgsql volatile security definer set search_path=weir, pg_temp: Changes the policy of workspaces and returns it.
function settle_asks(at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Ends or releases held tasks whose time to be decided is over.
function signal(job uuid, event text, payload jsonb DEFAULT NULL::jsonb, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Gives a job an event from outside; tasks that wait for it are done.
function signal_task(task uuid, payload jsonb DEFAULT NULL::jsonb, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set search_path=weir, pg_temp: Gives a task the event that it waits for; 404 when it does not.
function skip(task uuid, reason text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Ends a waiting or failed task as skipped; its dependents go on.
function start_many(tasks uuid[], attempts integer[], tokens uuid[], at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(task uuid, refusal text, attempt integer)
  plpgsql volatile security definer set enable_bitmapscan=off, enable_mergejoin=off, enable_nestloop=off, enable_seqscan=off, jit=off, search_path=weir, pg_temp: Records that leased tasks have begun. Returns only those that were refused.
function stop_worker(name text, holder text DEFAULT NULL::text, keep boolean DEFAULT false, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  plpgsql volatile security definer set search_path=weir, pg_temp: Ends a worker and hands back what it holds.
function submit(service text, params jsonb DEFAULT '{}'::jsonb, priority integer DEFAULT 0, run_at timestamp with time zone DEFAULT NULL::timestamp with time zone, hold text DEFAULT NULL::text, lane text DEFAULT NULL::text, rank bigint DEFAULT NULL::bigint, exclusive boolean DEFAULT NULL::boolean, pool text DEFAULT NULL::text, labels jsonb DEFAULT NULL::jsonb, max_attempts integer DEFAULT NULL::integer, timeout interval DEFAULT NULL::interval, backoff interval DEFAULT NULL::interval, backoff_cap interval DEFAULT NULL::interval, orphan text DEFAULT NULL::text, idempotency_key text DEFAULT NULL::text, unique_key text DEFAULT NULL::text, trace text DEFAULT NULL::text, hint boolean DEFAULT true, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid
  plpgsql volatile security definer set search_path=weir, pg_temp: Submits one task and returns its id.
function submit_job(tasks jsonb, name text, kind text DEFAULT 'job'::text, priority integer DEFAULT 0, params jsonb DEFAULT NULL::jsonb, idempotency_key text DEFAULT NULL::text, trace text DEFAULT NULL::text, hint boolean DEFAULT true, definition uuid DEFAULT NULL::uuid, schedule text DEFAULT NULL::text, parent uuid DEFAULT NULL::uuid, origin uuid DEFAULT NULL::uuid, options jsonb DEFAULT NULL::jsonb, scheduled_at timestamp with time zone DEFAULT NULL::timestamp with time zone, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Submits a job and returns its id. Each task is an object with the fields of weir.task_spec; needs name the keys of other tasks.
function submit_many(tasks jsonb, hint boolean DEFAULT true, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(n integer, task uuid, existed boolean)
  plpgsql volatile security definer set search_path=weir, pg_temp: Submits an array of tasks, each an object with the fields of weir.task_spec. Returns their ids in order; existed: a task with that key was there already.
function tally(n integer DEFAULT 5000, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT counted integer, OUT more boolean) returns record
  plpgsql volatile security definer set enable_seqscan=off, enable_sort=off, jit=off, search_path=weir, pg_temp: Adds the timeline up into weir.minutes: how many events were counted, and whether there are more.
function task_events(of_task uuid, lines integer DEFAULT NULL::integer) returns TABLE(seq bigint, at timestamp with time zone, type text, attempt integer, worker text, source text, level text, message text, data jsonb)
  plpgsql stable security definer set search_path=weir, pg_temp: The events of a task, in order; with lines, of what it said only so many.
function tend(sweep boolean DEFAULT false, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT opened integer, OUT expired integer, OUT more boolean, OUT next_at timestamp with time zone) returns record
  plpgsql volatile security definer set lock_timeout=200ms, search_path=weir, pg_temp: One bounded pass of everything that time alone brings about.
function test_report_read(artifact bigint, uploaded timestamp with time zone, report jsonb DEFAULT NULL::jsonb, fault text DEFAULT NULL::text, later timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Notes what a report of tests says.
function wait_for(task uuid, needs text[], at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set enable_nestloop=on, jit=off, search_path=weir, pg_temp: A task at the gate plan waits for tasks of its job, then stands there again. False: it does not stand there any more.
function why(task uuid, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(gate text, open boolean, reason text, blocker uuid, since timestamp with time zone, code text, args jsonb)
  sql stable security definer set jit=off, search_path=weir, pg_temp: Why a task waits: each gate, open or closed, with reason, blocker and since when.
function why_job(job uuid, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(gate text, open boolean, reason text, blocker uuid, since timestamp with time zone, code text, args jsonb)
  sql stable security definer set jit=off, search_path=weir, pg_temp: Why a job is where it is: its time, its gates, its workers.
function workflow_ancestors(job uuid) returns TABLE(ancestor uuid, name text, depth integer)
  sql stable security definer set jit=off, search_path=weir, pg_temp: The jobs that wait for this one, directly or not.
function workflow_build(builds jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set enable_seqscan=off, jit=off, search_path=weir, pg_temp: Gives queued jobs their tasks.
function workflow_deliver(trigger text, key text, fire jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(state text, reason jsonb, job uuid, again boolean)
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Starts the run of a delivery to a webhook, once.
function workflow_due(most integer DEFAULT 200, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(job uuid, note text)
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Due jobs to be built, and why others are not.
function workflow_fire(fires jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Carries out what was decided about firings.
function workflow_hook_secret(trigger text, secret text, overlap interval, fresh boolean, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns timestamp with time zone
  plpgsql volatile security definer set search_path=weir, pg_temp: Gives a webhook a new secret, beside the one before for a while.
function workflow_patience(at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Relaxes labels of tasks that nobody takes, and ends those that waited too long.
function workflow_plan(plans jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Carries out what the planner decided.
function workflow_run(definition uuid, newest boolean, tasks jsonb, patience jsonb DEFAULT NULL::jsonb, priority integer DEFAULT 0, params jsonb DEFAULT NULL::jsonb, idempotency_key text DEFAULT NULL::text, trace text DEFAULT NULL::text, options jsonb DEFAULT NULL::jsonb, scheduled_at timestamp with time zone DEFAULT NULL::timestamp with time zone, hint boolean DEFAULT true, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid
  plpgsql volatile security definer set jit=off, search_path=weir, pg_temp: Submits a job of a workflow. Null: the definition is not the newest active one.
function workflow_unsigned(trigger text, address text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns void
  sql volatile security definer set search_path=weir, pg_temp: Notes a delivery to a webhook with a wrong signature.
function workspace_archived(workspace uuid, op_id uuid, key text, meta jsonb, mounted bigint, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Notes a verified archive. Only then may the volume go.
function workspace_begin(workspace uuid, operation text, wanted bigint, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid
  plpgsql volatile security definer set search_path=weir, pg_temp: Notes that an operation begins, before it does.
function workspace_busy(workspace uuid, lasts interval, by text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns timestamp with time zone
  plpgsql volatile security definer set search_path=weir, pg_temp: Keeps a workspace from being stopped for a while.
function workspace_code_make(workspace uuid, user_id uuid, hash bytea, host text, session uuid DEFAULT NULL::uuid, token uuid DEFAULT NULL::uuid, lasts interval DEFAULT '00:00:30'::interval, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns timestamp with time zone
  plpgsql volatile security definer set search_path=weir, pg_temp: Notes a code that opens a workspace once.
function workspace_code_use(code bytea, host text, visit bytea, lasts interval DEFAULT '7 days'::interval, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid
  plpgsql volatile security definer set search_path=weir, pg_temp: Turns a code into a visit.
function workspace_collected(keys text[], at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  sql volatile security definer set search_path=weir, pg_temp: Notes that archives have gone.
function workspace_create(owner uuid, name text, provider text, image text DEFAULT NULL::text, description text DEFAULT NULL::text, desired text DEFAULT 'RUNNING'::text, standby_ttl interval DEFAULT NULL::interval, archive_ttl interval DEFAULT NULL::interval, by text DEFAULT NULL::text, idempotency_key text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns uuid
  plpgsql volatile security definer set search_path=weir, pg_temp: Makes a workspace and returns its id.
function workspace_end(workspace uuid, op_id uuid, reason text DEFAULT NULL::text, message text DEFAULT NULL::text, terminal boolean DEFAULT false, tries integer DEFAULT 3, wanted bigint DEFAULT NULL::bigint, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: An operation is complete, or a try of it failed.
function workspace_expire(alive uuid[] DEFAULT '{}'::uuid[], at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set search_path=weir, pg_temp: Wants less of workspaces that nobody uses.
function workspace_import(earlier jsonb, archive_key text DEFAULT NULL::text, archive_meta jsonb DEFAULT NULL::jsonb, owner uuid DEFAULT NULL::uuid, provider text DEFAULT NULL::text, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(outcome text, says text)
  plpgsql volatile security definer set search_path=weir, pg_temp: Takes over one row of the earlier schema of workspaces.
function workspace_orphans(listed jsonb, keep integer DEFAULT 3, after interval DEFAULT '02:00:00'::interval, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns text[]
  plpgsql volatile security definer set search_path=weir, pg_temp: Which archives nobody has needed for a while.
function workspace_patch(workspace uuid, change jsonb, by text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Changes the name, the description, the image or the times of a workspace.
function workspace_progress(workspace uuid, op_id uuid, says text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Notes that an operation gets on.
function workspace_recover(workspace uuid, by text DEFAULT NULL::text, fresh boolean DEFAULT false, archive text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Clears the error of a workspace.
function workspace_resume(at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  sql volatile security definer set search_path=weir, pg_temp: A new leader goes on with what is under way.
function workspace_see(rows jsonb, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns integer
  plpgsql volatile security definer set search_path=weir, pg_temp: Writes what was seen of workspaces.
function workspace_touch(workspaces uuid[], ats timestamp with time zone[], sources text[]) returns integer
  sql volatile security definer set search_path=weir, pg_temp: Notes when workspaces were last used.
function workspace_unknown(of_what text[] DEFAULT '{}'::text[], why text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Notes that not everything about workspaces could be seen.
function workspace_visit(hash bytea, host text, used boolean DEFAULT false, at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT workspace uuid, OUT user_id uuid, OUT name text) returns record
  plpgsql volatile security definer set search_path=weir, pg_temp: Who is inside a workspace with this cookie. Null: nobody.
function workspace_want(workspace uuid, want text, by text DEFAULT NULL::text, expected text DEFAULT NULL::text, reason text DEFAULT NULL::text, at timestamp with time zone DEFAULT NULL::timestamp with time zone) returns boolean
  plpgsql volatile security definer set search_path=weir, pg_temp: Wants another phase of a workspace. Refused while an operation is under way.

-- Grants
weir_client: execute on function _device_answer
weir_client: execute on function _device_reason
weir_client: execute on function _fleet_reserved_words
weir_client: execute on function _fleet_timeout
weir_client: execute on function _format_argument
weir_client: execute on function _id_time
weir_client: execute on function _instant
weir_client: execute on function _pc_reason
weir_client: execute on function _pc_slots
weir_client: execute on function _pc_state
weir_client: execute on function _sentence
weir_client: execute on function _span
weir_client: execute on function _words
weir_client: execute on function add_tasks
weir_client: execute on function cancel
weir_client: execute on function cancel_job
weir_client: execute on function close_job
weir_client: execute on function drop_pool
weir_client: execute on function drop_schedule
weir_client: execute on function drop_trigger
weir_client: execute on function drop_workflow
weir_client: execute on function events_after
weir_client: execute on function events_tail
weir_client: execute on function fleet_cancel
weir_client: execute on function fleet_submit
weir_client: execute on function fleet_why
weir_client: execute on function hold
weir_client: execute on function log_event
weir_client: execute on function note_bulk
weir_client: execute on function note_pool
weir_client: execute on function open_gates
weir_client: execute on function open_job
weir_client: execute on function pause_trigger
weir_client: execute on function put_workflow
weir_client: execute on function refuse
weir_client: execute on function release
weir_client: execute on function reschedule_job
weir_client: execute on function retry
weir_client: execute on function retry_job
weir_client: execute on function set_node_mode
weir_client: execute on function set_pool
weir_client: execute on function set_priority
weir_client: execute on function set_schedule
weir_client: execute on function set_trigger
weir_client: execute on function set_wake
weir_client: execute on function set_workflow
weir_client: execute on function signal
weir_client: execute on function signal_task
weir_client: execute on function skip
weir_client: execute on function submit
weir_client: execute on function submit_job
weir_client: execute on function submit_many
weir_client: execute on function task_events
weir_client: execute on function why
weir_client: execute on function why_job
weir_client: usage on schema fleet
weir_client: usage on schema flow
weir_client: usage on schema weir
weir_client: usage on sequence flow.order_seq
weir_client: select on table or view _definition
weir_client: select on table or view _definition_work
weir_client: select on table or view _flow_job_tasks
weir_client: select on table or view _flow_jobs
weir_client: select on table or view _flow_task_artifacts
weir_client: select on table or view _flow_task_events
weir_client: select on table or view _hidden
weir_client: select on table or view _lane_holder
weir_client: select on table or view _rollout_fact
weir_client: select on table or view _rollout_status
weir_client: select on table or view artifacts
weir_client: select on table or view asks
weir_client: select on table or view available
weir_client: select on table or view changes
weir_client: select on table or view class_moves
weir_client: select on table or view classes
weir_client: select on table or view cluster
weir_client: select on table or view databases
weir_client: select on table or view device
weir_client: select on table or view device_spans
weir_client: select on table or view devices
weir_client: select on table or view edges
weir_client: select on table or view event
weir_client: select on table or view events
weir_client: select on table or view exports
weir_client: select on table or view finished
weir_client: select on table or view firings
weir_client: select on table or view fleet_job
weir_client: select on table or view fleet_jobs
weir_client: select on table or view fleet_policy
weir_client: select on table or view fleet_unit
weir_client: select on table or view fleet_units
weir_client: select on table or view forgiven
weir_client: select on table or view forwards
weir_client: select on table or view given_ids
weir_client: select on table or view horizon
weir_client: select on table or view idempotency
weir_client: select on table or view job
weir_client: select on table or view job_finished
weir_client: select on table or view job_live
weir_client: select on table or view jobs
weir_client: select on table or view lane_blocks
weir_client: select on table or view left_keys
weir_client: select on table or view minutes
weir_client: select on table or view node
weir_client: select on table or view node_faults
weir_client: select on table or view nodes
weir_client: select on table or view object_version
weir_client: select on table or view patience
weir_client: select on table or view pc
weir_client: select on table or view pcs
weir_client: select on table or view pending
weir_client: select on table or view pool
weir_client: select on table or view pool_moves
weir_client: select on table or view pools
weir_client: select on table or view rollout
weir_client: select on table or view rollout_approvals
weir_client: select on table or view rollout_database
weir_client: select on table or view rollout_stages
weir_client: select on table or view rollout_task
weir_client: select on table or view rollout_tasks
weir_client: select on table or view rollouts
weir_client: select on table or view schedules
weir_client: select on table or view schema_object
weir_client: select on table or view schema_version
weir_client: select on table or view set_aside
weir_client: select on table or view signals
weir_client: select on table or view starts
weir_client: select on table or view system_locks
weir_client: select on table or view tallied
weir_client: select on table or view task
weir_client: select on table or view tasks
weir_client: select on table or view test_reports
weir_client: select on table or view transition
weir_client: select on table or view triggers
weir_client: select on table or view unique_keys
weir_client: select on table or view unsettled
weir_client: select on table or view worker
weir_client: select on table or view workflows
weir_client: select on table or view workspace_archives
weir_client: select on table or view workspace_policy
weir_client: select on table or view workspaces
weir_client: select on view fleet.devices
weir_client: select on view fleet.execution_logs
weir_client: delete, insert, select, update on view fleet.pc_device_summary
weir_client: delete, insert, select, update on view fleet.task_devices
weir_client: delete, insert, select, update on view fleet.tasks
weir_client: select on view fleet.workers
weir_client: delete, insert, select, update on view flow.job_tasks
weir_client: delete, insert, select, update on view flow.jobs
weir_client: delete, insert, select, update on view flow.nodes
weir_client: delete, insert, select, update on view flow.task_artifacts
weir_client: delete, insert, select, update on view flow.task_events
weir_client: delete, insert, select, update on view flow.workflows
weir_worker: execute on function _device_answer
weir_worker: execute on function _device_reason
weir_worker: execute on function _fleet_timeout
weir_worker: execute on function _format_argument
weir_worker: execute on function _id_time
weir_worker: execute on function _instant
weir_worker: execute on function _pc_reason
weir_worker: execute on function _sentence
weir_worker: execute on function _span
weir_worker: execute on function _words
weir_worker: execute on function bound_slots
weir_worker: execute on function claim
weir_worker: execute on function confirm_cancel
weir_worker: execute on function expire
weir_worker: execute on function fail
weir_worker: execute on function fail_many
weir_worker: execute on function finish
weir_worker: execute on function finish_many
weir_worker: execute on function fleet.claim_task_devices_for_pc
weir_worker: execute on function fleet.complete_task_device
weir_worker: execute on function fleet.fail_or_retry_task_device
weir_worker: execute on function fleet.fn_timeout_tasks_and_task_devices
weir_worker: execute on function fleet.renew_task_device_lease
weir_worker: execute on function fleet_claim
weir_worker: execute on function fleet_fail
weir_worker: execute on function fleet_report
weir_worker: execute on function fleet_tend
weir_worker: execute on function fleet_trouble
weir_worker: execute on function fleet_unclean
weir_worker: execute on function foreign_leases
weir_worker: execute on function give_back_many
weir_worker: execute on function heartbeat
weir_worker: execute on function inputs
weir_worker: execute on function leased
weir_worker: execute on function leased_many
weir_worker: execute on function open_gates
weir_worker: execute on function pc_slots
weir_worker: execute on function record
weir_worker: execute on function record_artifact
weir_worker: execute on function record_many
weir_worker: execute on function register_node
weir_worker: execute on function register_worker
weir_worker: execute on function renew
weir_worker: execute on function report_faults
weir_worker: execute on function start_many
weir_worker: execute on function stop_worker
weir_worker: execute on function tend
weir_worker: usage on schema fleet
weir_worker: usage on schema weir
weir_worker: delete, insert, select, update on view fleet.devices
weir_worker: insert on view fleet.execution_logs
weir_worker: delete, insert, select, update on view fleet.pc_device_summary
weir_worker: delete, insert, select, update on view fleet.task_devices
weir_worker: select on view fleet.tasks
weir_worker: delete, insert, select, update on view fleet.workers
