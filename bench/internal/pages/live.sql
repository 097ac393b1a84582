-- What has not ended, through the engine itself: about as many tasks as bench.live says.
do $do$
declare
  n int := current_setting('bench.live')::int;
  later timestamptz := clock_timestamp() + interval '1 day';
begin
  perform weir.set_pool('pool-' || lpad(i::text, 3, '0'), 5) from generate_series(1, 50) i;
  perform weir.submit_many(jsonb_agg(jsonb_build_object('service', 'service-' || 1 + i % 200, 'hold', 'approval')), false) from generate_series(1, n / 10) i;
  perform weir.submit_many(jsonb_agg(jsonb_build_object('service', 'service-' || 1 + i % 200, 'run_at', later + i * interval '1 s')), false) from generate_series(1, n / 5) i;
  perform weir.submit_many(jsonb_agg(jsonb_build_object('service', 'service-' || 1 + i % 200, 'lane', 'lane-' || i % 500, 'exclusive', true)), false) from generate_series(1, n / 5) i;
  perform weir.submit_many(jsonb_agg(jsonb_build_object('service', 'service-' || 1 + i % 200, 'pool', 'pool-' || lpad((1 + i % 50)::text, 3, '0'))), false) from generate_series(1, n / 5) i;
  perform weir.submit_job((select jsonb_agg(jsonb_build_object('service', 'service-' || 1 + (j + p) % 200, 'key', 'step-' || p,
      'needs', case p when 1 then '[]'::jsonb when 6 then '["step-2", "step-3", "step-4", "step-5"]' else '["step-1"]' end)) from generate_series(1, 6) p),
    'live-' || j, 'workflow', hint => false) from generate_series(1, n / 40) j;
  perform weir.submit_job((select jsonb_agg(jsonb_build_object('service', 'service-' || 1 + (j + p) % 200, 'key', 'step-' || p,
      'needs', case p when 1 then '[]'::jsonb when 2000 then (select jsonb_agg('step-' || m) from generate_series(2, 1999) m) else '["step-1"]' end)) from generate_series(1, 2000) p),
    'wide-' || j, 'workflow', hint => false) from generate_series(1, 3) j;
  perform weir.submit_many(jsonb_agg(jsonb_build_object('service', 'service-' || 1 + i % 200)), false) from generate_series(1, n / 10) i;
  perform weir.open_gates();
end $do$;
