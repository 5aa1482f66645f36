--[[
  Removes a user from the list of those whose role SCIM groups may have changed, unless they changed again.

  KEYS  1 role changes: hash
  ARGV  1 user   2 number of changes that were applied

  Returns  settled  |  changed
]]
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return { 'changed' } end
redis.call('HDEL', KEYS[1], ARGV[1])
return { 'settled' }
