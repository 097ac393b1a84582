-- The work that a job of a definition will have: the service and the labels of each step.
create or replace view weir._definition_work as
select w.id as definition, coalesce(s.value ->> 'service', s.value -> 'run' ->> 'driver') as service,
  coalesce(w.definition -> 'labels', '{}') || coalesce(s.value -> 'labels', '{}') as labels
from weir.workflows w, lateral jsonb_array_elements(
  case when jsonb_typeof(w.definition -> 'steps') = 'array' then w.definition -> 'steps' else '[]' end) s;
comment on view weir._definition_work is 'What the steps of definitions need.';
