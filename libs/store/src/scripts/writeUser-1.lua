--[[
  Writes a user, if the record is as it was read, and records that in the audit. Disabling a user or replacing the password
  ends the user's sessions: they are valid for one generation of the user.

  KEYS  1 user: hash
  ARGV  1 id   2 tenant   3 document (JSON)   4 expected revision, 0 = new   5 password hash, '' = none   6 second factor (JSON), '' = none
        7 lookups that lead to the user, one per line   8 name by which the users of a tenant are sorted   9 role
        10 '1' = disabled   11 `end` the sessions, or keep them as the password is the same (`rehash`)
        12 '1' = refuse to leave the tenant without an enabled admin
        13 maximum number of users of a tenant   14 hash of the document   15 act (JSON)

  Returns  written <revision> <generation>  |  changed  |  taken <kind of lookup>  |  full <count>  |  last_admin
]]
local id, tenant, document, expected, password, factor, lookups, sorted, role = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5],
  ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local disabled, limit = ARGV[10] == '1', tonumber(ARGV[13])

local names = { 'revision', 'generation', 'password', 'lookups', 'sorted', 'role', 'disabled', 'hash' }
local before = {}
for i, value in ipairs(redis.call('HMGET', KEYS[1], unpack(names))) do before[names[i]] = value or nil end
if (before.revision or '0') ~= expected then return { 'changed' } end
local function is_taken(lookup)
  local holder = redis.call('HGET', key.userLookups(tenant), lookup)
  return holder and holder ~= id
end
-- A sign-in names a user by either one, so the name of one user must not be the address of another. What the user had before
-- stays: it may be older than this rule.
local counterpart = { name = 'email', email = 'name' }
local kept = {}
for lookup in string.gmatch(before.lookups or '', '[^\n]+') do kept[lookup] = true end
for lookup in string.gmatch(lookups, '[^\n]+') do
  local kind, value = string.match(lookup, '^(%l+):(.*)$')
  local is_confused = counterpart[kind] and not kept[lookup] and is_taken(counterpart[kind] .. ':' .. value)
  if is_confused or is_taken(lookup) then return { 'taken', kind } end
end
if not before.revision then
  local count = redis.call('ZCARD', key.usersOf(tenant))
  if count >= limit then return { 'full', tostring(count) } end
end
local was_admin = before.role == 'admin' and before.disabled ~= '1'
local is_admin = role == 'admin' and not disabled
if ARGV[12] == '1' and was_admin and not is_admin and redis.call('SCARD', key.tenantAdmins(tenant)) <= 1 then
  return { 'last_admin' }
end

for lookup in string.gmatch(before.lookups or '', '[^\n]+') do redis.call('HDEL', key.userLookups(tenant), lookup) end
for lookup in string.gmatch(lookups, '[^\n]+') do redis.call('HSET', key.userLookups(tenant), lookup, id) end
if before.sorted and before.sorted ~= sorted then redis.call('ZREM', key.usersOf(tenant), before.sorted) end
redis.call('ZADD', key.usersOf(tenant), 0, sorted)
if before.role and before.role ~= role then redis.call('SREM', key.usersInRole(before.role), id) end
redis.call('SADD', key.usersInRole(role), id)
redis.call(is_admin and 'SADD' or 'SREM', key.tenantAdmins(tenant), id)

local revision, generation = text(tonumber(expected) + 1), tonumber(before.generation or '0')
local is_shut = disabled and before.disabled ~= '1'
local is_rekeyed = before.revision and before.password ~= password and ARGV[11] ~= 'rehash'
if ARGV[11] == 'end' or is_shut or is_rekeyed then generation = generation + 1 end
redis.call('HSET', KEYS[1], 'document', document, 'tenant', tenant, 'revision', revision, 'generation', text(generation),
  'password', password, 'factor', factor, 'lookups', lookups, 'sorted', sorted, 'role', role,
  'disabled', disabled and '1' or '', 'hash', ARGV[14])
-- Replicas have keys in memory that this user may have made, which are not listed by their makers.
if before.revision and disabled ~= (before.disabled == '1') then note_key_change('', '') end
audit('act', tenant, text(micros()), ARGV[15], before.hash or '')
return { 'written', revision, text(generation) }
