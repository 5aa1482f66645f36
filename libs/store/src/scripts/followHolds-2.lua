--[[
  Applies the active legal holds to this shard: tenants whose hold has begun or ended without this shard, such as before it had
  this list, get a sweep.

  KEYS  1 active legal holds: hash   2 tenants under a hold: set

  ARGV  1 maximum number of sweeps to return

  Returns  number of tenants under a hold, then tenant and sweep of tenants that need one
]]
local active = redis.call('HGETALL', KEYS[1])
local is_active = {}
for i = 1, #active, 2 do
  is_active[active[i]] = true
  if redis.call('SADD', KEYS[2], active[i]) == 1 then redis.call('HSET', key.holdSweeps(), active[i], 'freeze ' .. active[i + 1]) end
end
for _, tenant in ipairs(redis.call('SMEMBERS', KEYS[2])) do
  if not is_active[tenant] then
    redis.call('SREM', KEYS[2], tenant)
    redis.call('HSET', key.holdSweeps(), tenant, 'thaw')
  end
end
local sweeps = redis.call('HGETALL', key.holdSweeps())
return { text(#active / 2), unpack(sweeps, 1, math.min(#sweeps, 2 * tonumber(ARGV[1]))) }
