-- A reason that somebody gave by a command: who, and the note they left.
create or replace function weir._rollout_did(code text, by text, note text) returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object('code', code, 'by', coalesce(nullif(by, ''), session_user::text),
    'note', weir._text(nullif(note, ''))))
$$;
comment on function weir._rollout_did is 'A reason that is a command of somebody.';
