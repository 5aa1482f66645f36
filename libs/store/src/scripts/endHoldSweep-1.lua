--[[
  Ends a sweep, unless another has been requested for the tenant since it began.

  KEYS  1 sweeps: hash
  ARGV  1 tenant   2 the sweep, as it was read when it began

  Returns  ended  |  changed
]]
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return { 'changed' } end
redis.call('HDEL', KEYS[1], ARGV[1])
return { 'ended' }
