--[[
  Ends the application of a status to the jobs of a tenant, if it still has that status.

  KEYS  1 tenant: hash
  ARGV  1 tenant   2 status that was applied

  Returns  finished  |  changed
]]
if redis.call('HGET', KEYS[1], 'status') ~= ARGV[2] then return { 'changed' } end
redis.call('ZREM', key.tenantsChanged(), ARGV[1])
return { 'finished' }
