--[[
  Compare-and-set of a circuit breaker's record by revision. The rules of the breaker are not here: the caller has read
  the record and decided its next state.

  KEYS  1 breaker: hash with `revision`
  ARGV  1 expected revision, 0 for no record     2 retention, ms     then field value ...

  Returns  changed  |  stale field value ... of the current record
]]
local breaker = KEYS[1]
local expected, keep_ms = tonumber(ARGV[1]), ARGV[2]

local revision = tonumber(redis.call('HGET', breaker, 'revision') or 0)
if revision ~= expected then return { 'stale', unpack(redis.call('HGETALL', breaker)) } end

redis.call('HSET', breaker, 'revision', revision + 1, unpack(ARGV, 3))
redis.call('PEXPIRE', breaker, keep_ms)
return { 'changed' }
