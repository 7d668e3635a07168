-- What a sandbox reaches was a word and is a policy: a mode with the networks and hosts that are open besides.

UPDATE sandboxes
SET config = json_set(
  config,
  '$.network',
  json_object(
    'mode', CASE json_extract(config, '$.network') WHEN 'allow' THEN 'allow' ELSE 'deny' END,
    'allowCidrs', json_array(),
    'allowHosts', json_array()
  )
)
WHERE json_type(config, '$.network') IS NULL OR json_type(config, '$.network') <> 'object';
