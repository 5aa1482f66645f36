--[[
  Removes permissions that belong to no open job from one key, and lets waiting jobs through. The records are read in the same
  step, so that a job that takes a permission concurrently keeps it.

  KEYS  1 limits in use
  ARGV  1 the limit (JSON)   2 permissions to skip   3 number of permissions to check

  Returns  { number of removed permissions, number of checked ones, permissions to skip in the next call: -1 = these were the
           last }
]]
local kind, tenant, name = unpack(cjson.decode(ARGV[1]))
local first, count = tonumber(ARGV[2]), tonumber(ARGV[3])
local holders, removed = key.limitHolders(kind, tenant, name), 0
local members
-- Starts of a rate expire by themselves.
if kind == 'rate' then members = redis.call('ZRANGEBYSCORE', holders, '+inf', '+inf', 'LIMIT', first, count)
else members = redis.call('ZRANGE', holders, first, first + count - 1) end
for _, member in ipairs(members) do
  local id = kind == 'rate' and string.match(member, '^(.*):%d+$') or member
  local state = redis.call('HGET', key.job(id), 'state')
  if not state or is(TERMINAL, state) or state == 'APPROVAL_REQUIRED' then
    removed = removed + redis.call('ZREM', holders, member)
  end
end
-- Without the permission that was removed, only starts may be left.
if kind == 'rate' and removed > 0 and redis.call('ZCOUNT', holders, '+inf', '+inf') == 0 then redis.call('PEXPIRE', holders, MAX_RATE_PERIOD_MS) end
limit_release_next(kind, tenant, name, math.floor(micros() / 1000))
return { removed, #members, #members < count and -1 or first + count - removed }
