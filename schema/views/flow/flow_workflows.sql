-- Workflows as the workflow core had them. A row inserted here is a version of a workflow; one that is there keeps its
-- content, and only is_active changes.
create or replace view flow.workflows as
select w.id, w.name::text as name, w.version, w.active as is_active,
  (select jsonb_agg(s.value - 'needs' - 'params'
      || jsonb_build_object('depends_on', coalesce(s.value -> 'needs', s.value -> 'depends_on', '[]'),
      'default_params', coalesce(s.value -> 'params', s.value -> 'default_params', '{}'),
      'service', coalesce(s.value ->> 'service', s.value -> 'run' ->> 'driver')) order by s.ordinality)
    from jsonb_array_elements(w.definition -> 'steps') with ordinality s) as steps,
  w.created_at, w.updated_at
from weir.workflows w;
comment on view flow.workflows is 'Workflows. INSERT (name, version, steps) stores a version: weir.put_workflow.';

create or replace trigger write instead of insert or update or delete on flow.workflows for each row
execute function weir._flow_workflow();
