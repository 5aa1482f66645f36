--[[
  Restores the expiries of records of a tenant whose legal hold was released. What would have expired by now is removed.

  KEYS  1 expiries of the tenant: sorted set
  ARGV  1 tenant   2 maximum number of records

  Returns  thawed <number>  |  held: the tenant has a hold again
]]
if on_hold(ARGV[1]) then return { 'held' } end
local due = redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[2]) - 1, 'WITHSCORES')
for i = 1, #due, 2 do
  -- An expiry that was set after the release is later.
  if redis.call('PEXPIRETIME', due[i]) == -1 then redis.call('PEXPIREAT', due[i], due[i + 1]) end
  redis.call('ZREM', KEYS[1], due[i])
end
return { 'thawed', text(#due / 2) }
