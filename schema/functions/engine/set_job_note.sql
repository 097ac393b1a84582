-- Why a queued job that is due is not built yet, for weir.why_job. It is no event: the note may change at every look.
create or replace function weir.set_job_note(job uuid, note text) returns void
language plpgsql security definer
set search_path = weir, pg_temp
as $$
#variable_conflict use_column
begin
  update weir.job_live l set note = weir._text(set_job_note.note)
  where l.job = set_job_note.job and l.due is not null and l.note is distinct from weir._text(set_job_note.note);
end $$;
comment on function weir.set_job_note is 'Says what a queued job waits for.';
