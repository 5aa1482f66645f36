--[[
  Removes a dataset, and appends to the policy audit in the same step. Its entries stay for as long as its runs, which show
  them.

  KEYS  1 dataset: hash
  ARGV  1 tenant   2 dataset id   3 retention of runs, ms   then the arguments of writePolicy for the audit entry

  Returns  removed  |  missing
]]
local tenant, id, keep_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
local owner, name, version, bytes = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'name', 'version', 'bytes'))
if owner ~= tenant then return { 'missing' } end
local now_ms = math.floor(micros() / 1000)
local index, versions = key.evalDatasets(tenant), key.evalVersions(tenant)
local numbered = name .. ':' .. version

redis.call('DEL', KEYS[1])
redis.call('ZREM', index, numbered .. ':' .. id)
redis.call('HDEL', versions, numbered)
local has_others = false
for _, member in ipairs(redis.call('ZRANGE', index, 0, -1)) do
  if string.sub(member, 1, #name + 1) == name .. ':' then has_others = true end
end
if not has_others then redis.call('HDEL', versions, name) end

evals.drop_expired_runs(id, now_ms, keep_ms)
evals.subtract(tenant, id, tonumber(bytes))
if redis.call('EXISTS', key.evalRunsOf(id)) == 1 then
  redis.call('PEXPIRE', key.evalEntries(id), keep_ms)
  evals.add(tenant, id, tonumber(bytes), text(now_ms + keep_ms))
else
  redis.call('DEL', key.evalEntries(id))
end
scripts.writePolicy({ '' }, { unpack(ARGV, 4) })
return { 'removed' }
