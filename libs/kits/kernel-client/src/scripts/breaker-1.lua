--[[
  Replaces the record of a circuit breaker, if nobody else changed it meanwhile. The rules of the breaker are not here:
  the caller read the record, decided what becomes of it, and says which revision it read.

  KEYS  1 breaker: hash with `revision`
  ARGV  1 revision that was read, 0 for no record     2 time to keep it, ms     then field value ...

  Returns  changed  |  stale field value ... of the current record
]]
local breaker = KEYS[1]
local read, keep_ms = tonumber(ARGV[1]), ARGV[2]

local revision = tonumber(redis.call('HGET', breaker, 'revision') or 0)
if revision ~= read then return { 'stale', unpack(redis.call('HGETALL', breaker)) } end

redis.call('HSET', breaker, 'revision', revision + 1, unpack(ARGV, 3))
redis.call('PEXPIRE', breaker, keep_ms)
return { 'changed' }
