-- A worker notes an object that it has put into a bucket for a task it has leased: upload first, then record. What a
-- stale lease uploads is not noted, and goes with the job. Repeating it replaces the note, so that a lost answer does
-- no harm.
create or replace function weir.record_artifact(task uuid, attempt int, token uuid, kind text, name text, bucket text,
  key text, size bigint, content_type text default 'application/octet-stream', sha256 text default null,
  at timestamptz default null)
returns text
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
declare
  t timestamptz := weir._clock(record_artifact.at);
  r weir.running;
  was weir.artifacts;
begin
  if record_artifact.kind is null or record_artifact.kind not in ('input', 'output', 'log') then
    perform weir._invalid('kind', 'input, output or log');
  end if;
  if coalesce(record_artifact.name, '') = '' or length(record_artifact.name) > 1000 then
    perform weir._invalid('name', '1 to 1000 characters');
  end if;
  if coalesce(record_artifact.bucket, '') = '' or coalesce(record_artifact.key, '') = '' then
    perform weir._invalid('key', 'say which bucket and which key the object has');
  end if;
  perform weir._check(weir._bad_text('bucket', record_artifact.bucket, 1000),
    weir._bad_text('key', record_artifact.key, 2000), weir._bad_text('content_type', record_artifact.content_type));
  if record_artifact.size is null or record_artifact.size < 0 then
    perform weir._invalid('size', 'how many bytes the object has');
  end if;
  if record_artifact.sha256 !~ '^[0-9a-f]{64}$' then
    perform weir._invalid('sha256', '64 hexadecimal digits in lower case');
  end if;
  select * into r from weir.running x
  where x.task = record_artifact.task and x.attempt = record_artifact.attempt and x.token = record_artifact.token;
  if not found then
    return (select refusal
      from weir._refuse('record_artifact', array[record_artifact.task], array[record_artifact.attempt],
        array[record_artifact.token], null, null, t));
  end if;
  select * into was from weir.artifacts a
  where a.task = r.task and a.attempt = r.attempt and a.kind = record_artifact.kind and a.name = record_artifact.name;
  if not found and (select count(*) from weir.artifacts a where a.task = r.task and a.attempt = r.attempt) >= 10000 then
    perform weir._invalid('artifacts', 'an attempt may have 10,000', hint => 'put them into one archive');
  end if;
  insert into weir.artifacts as a (job, task, attempt, kind, name, bucket, key, size, content_type, sha256, at)
  values (r.job, r.task, r.attempt, record_artifact.kind, record_artifact.name, record_artifact.bucket,
    record_artifact.key,
    record_artifact.size, left(coalesce(nullif(record_artifact.content_type, ''), 'application/octet-stream'), 200),
    record_artifact.sha256, t)
  on conflict (task, attempt, kind, name) do update set bucket = excluded.bucket, key = excluded.key,
    size = excluded.size, content_type = excluded.content_type, sha256 = excluded.sha256, at = excluded.at;
  if was.id is null
    or (was.bucket, was.key, was.size) is distinct from (record_artifact.bucket, record_artifact.key,
      record_artifact.size)
    or was.sha256 is distinct from record_artifact.sha256 then
    insert into weir.events (at, type, worker, attempt, job, task, message, data)
    values (t, 'artifact', r.worker, r.attempt, r.job, r.task, weir._text(record_artifact.name),
      jsonb_build_object('kind', record_artifact.kind, 'name', record_artifact.name, 'size', record_artifact.size));
  end if;
  return 'ok';
end $$;
comment on function weir.record_artifact is 'Notes an object of a leased task: ok, lease_lost or unknown.';
