--[[
  Counts a worker among the live ones, unless it is new and there are as many as there may be. In one step, since workers
  come up together.

  KEYS  1 live workers
  ARGV  1 worker id   2 now, ms   3 entries older than this (ms) are gone   4 how many there may be, 0 = any number

  Returns  live  |  full
]]
local live, id, now_ms, most = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', live, 0, ARGV[3])
if most > 0 and not redis.call('ZSCORE', live, id) and redis.call('ZCARD', live) >= most then return { 'full' } end
redis.call('ZADD', live, now_ms, id)
return { 'live' }
