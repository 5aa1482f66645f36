--[[
  Adds uses to managed API keys. A key that was revoked in between keeps its count.

  ARGV  for each key: its id, the number of uses, the time of the last one (ms)

  Returns  counted
]]
for i = 1, #ARGV, 3 do
  local name, uses, last = key.apiKey(ARGV[i]), ARGV[i + 1], ARGV[i + 2]
  local revoked_at, last_before = unpack(redis.call('HMGET', name, 'revoked_at', 'last_used'))
  if not revoked_at and redis.call('EXISTS', name) == 1 then
    redis.call('HINCRBY', name, 'uses', uses)
    -- Replicas report in any order.
    if tonumber(last) > tonumber(last_before or '0') then redis.call('HSET', name, 'last_used', last) end
  end
end
return { 'counted' }
