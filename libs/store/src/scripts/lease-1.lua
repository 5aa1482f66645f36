--[[
  A lease: acquired when free, renewed by its owner, rejected for others. Renewing does not reacquire a lost lease.

  KEYS  1 lease
  ARGV  1 owner   2 duration, ms   3 'hold' to acquire or renew, 'renew' to only renew, 'free' to release

  Returns  held  |  taken  |  freed
]]
local owner = redis.call('GET', KEYS[1])
if ARGV[3] == 'free' then
  if owner == ARGV[1] then redis.call('DEL', KEYS[1]) end
  return { 'freed' }
end
if owner ~= ARGV[1] and (owner or ARGV[3] == 'renew') then return { 'taken' } end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { 'held' }
