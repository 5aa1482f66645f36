--[[
  Writes or removes a SCIM group, if it is as it was read, and records that in the audit. Users whose role the change may
  determine are listed until it is applied to them.

  KEYS  1 group: hash
  ARGV  1 id   2 tenant of the event   3 document (JSON), '' = remove   4 expected revision, 0 = new   5 name in lower case
        6 maximum number of groups   7 users who join, one per line   8 users who leave, one per line
        9 users whose role may change, one per line   10 hash of the document   11 act (JSON)

  Returns  written <revision>  |  changed  |  taken  |  full <count>
]]
local id, tenant, document, expected, name, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])

local revision, name_before, hash_before = unpack(redis.call('HMGET', KEYS[1], 'revision', 'name', 'hash'))
if (revision or '0') ~= expected then return { 'changed' } end
if document ~= '' then
  local holder = redis.call('HGET', key.scimGroups(), name)
  if holder and holder ~= id then return { 'taken' } end
  local count = redis.call('HLEN', key.scimGroups())
  if not revision and count >= limit then return { 'full', text(count) } end
end

if name_before then redis.call('HDEL', key.scimGroups(), name_before) end
for user in string.gmatch(ARGV[7], '[^\n]+') do redis.call('SADD', key.scimGroupsWith(user), id) end
for user in string.gmatch(ARGV[8], '[^\n]+') do redis.call('SREM', key.scimGroupsWith(user), id) end
for user in string.gmatch(ARGV[9], '[^\n]+') do redis.call('HINCRBY', key.scimRoleChanges(), user, 1) end
local next_revision = text(tonumber(expected) + 1)
if document == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('HSET', key.scimGroups(), name, id)
  redis.call('HSET', KEYS[1], 'document', document, 'revision', next_revision, 'name', name, 'hash', ARGV[10])
end
audit('act', tenant, text(micros()), ARGV[11], hash_before or '')
return { 'written', next_revision }
