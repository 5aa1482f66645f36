--[[
  Writes and removes roles, if no role has changed since they were read: the rules of a change depend on all of them. A role
  that users have is not removed.

  KEYS  1 roles: hash
  ARGV  1 version of the roles that were read, 0 = none was written so far
        2 ... for each role: its name, its document (JSON), '' = remove it

  Returns  written <version>  |  changed  |  in_use <number of users>
]]
local expected = ARGV[1]

if (redis.call('GET', key.rolesVersion()) or '0') ~= expected then return { 'changed' } end
for i = 2, #ARGV, 2 do
  local users = ARGV[i + 1] == '' and redis.call('SCARD', key.usersInRole(ARGV[i])) or 0
  if users > 0 then return { 'in_use', text(users) } end
end
for i = 2, #ARGV, 2 do
  local name, document = ARGV[i], ARGV[i + 1]
  if document == '' then redis.call('HDEL', KEYS[1], name) else redis.call('HSET', KEYS[1], name, document) end
end
return { 'written', text(redis.call('INCR', key.rolesVersion())) }
