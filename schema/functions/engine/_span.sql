-- A span of time as people say it: 250ms, 50s, 1m, 1h 30m, 2d 4h.
create or replace function weir._span(span interval) returns text
language plpgsql immutable
as $$
declare
  s bigint := floor(extract(epoch from span));
  big text;
  small text;
begin
  if span < interval '1 s' then
    return floor(extract(epoch from span) * 1000) || 'ms';
  end if;
  case
    when s < 60 then return s || 's';
    when s < 3600 then big := s / 60 || 'm'; small := nullif(s % 60, 0) || 's';
    when s < 86400 then big := s / 3600 || 'h'; small := nullif(s % 3600 / 60, 0) || 'm';
    else big := s / 86400 || 'd'; small := nullif(s % 86400 / 3600, 0) || 'h';
  end case;
  return concat_ws(' ', big, small);
end $$;
comment on function weir._span is 'A span of time for people.';
