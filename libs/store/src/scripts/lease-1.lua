--[[
  A lease: taken when free, renewed by its owner, refused to others. One that was lost is not taken again by renewing it.

  KEYS  1 lease
  ARGV  1 owner   2 how long, ms   3 'hold' to take or renew, 'renew' what is held, 'free' to give back

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
