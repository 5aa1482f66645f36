--[[
  Registers a worker as live, unless it is new and the limit is reached. Live workers and active credentials count, whichever
  are more; a worker with a credential is counted by it. Atomic, since many workers may start at once.

  KEYS  1 live workers
  ARGV  1 worker id   2 now, ms   3 entries older than this (ms) have expired   4 maximum number, 0 = unlimited

  Returns  live  |  full
]]
local live, id, now_ms, max = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', live, 0, ARGV[3])
if max > 0 and not redis.call('ZSCORE', live, id) then
  local credentials = key.workerCredentialsActive()
  local count = redis.call('ZCARD', live)
  if redis.call('SISMEMBER', credentials, id) == 0 then count = math.max(count, redis.call('SCARD', credentials)) end
  if count >= max then return { 'full' } end
end
redis.call('ZADD', live, now_ms, id)
return { 'live' }
