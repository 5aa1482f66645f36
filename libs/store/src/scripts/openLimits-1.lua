--[[
  Lets jobs through whose debounce period is over, or whose rate allows another start.

  KEYS  1 limits that change with time
  ARGV  1 now, ms ('' = the time of Redis)   2 number of keys to process

  Returns  { time of the next change (ms) or '' }
]]
local now_ms = ARGV[1] ~= '' and tonumber(ARGV[1]) or math.floor(micros() / 1000)
for _, ref in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now_ms), 'LIMIT', 0, tonumber(ARGV[2]))) do
  redis.call('ZREM', KEYS[1], ref)
  local kind, tenant, name = unpack(cjson.decode(ref))
  if kind == 'rate' then limit_release_next(kind, tenant, name, now_ms) else limit_end_debounce(tenant, name, now_ms) end
end
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return { first[2] or '' }
