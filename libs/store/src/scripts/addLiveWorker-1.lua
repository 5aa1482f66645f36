--[[
  Registers a worker as live, unless it is new and the limit is reached. Atomic, since many workers may start at once.

  KEYS  1 live workers
  ARGV  1 worker id   2 now, ms   3 entries older than this (ms) have expired   4 maximum number, 0 = unlimited

  Returns  live  |  full
]]
local live, id, now_ms, max = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', live, 0, ARGV[3])
if max > 0 and not redis.call('ZSCORE', live, id) and redis.call('ZCARD', live) >= max then return { 'full' } end
redis.call('ZADD', live, now_ms, id)
return { 'live' }
