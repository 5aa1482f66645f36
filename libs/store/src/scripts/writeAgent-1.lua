--[[
  Writes an agent, if it is as it was read, and records that in the audit. When it stops being active, its jobs are refused
  from now on. An agent with a new status is listed until that is applied to its open jobs and its workers.

  KEYS  1 agent: hash
  ARGV  1 id   2 tenant   3 document (JSON)   4 status   5 expected revision, 0 = new   6 created, µs
        7 maximum number of agents of a tenant   8 act (JSON); the numbers of open jobs are added when they are stopped
        9 pools that it names, one per line

  Returns  written <revision>  |  changed  |  full <count>
]]
local id, tenant, document, status, expected, created, limit, pools = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6],
  tonumber(ARGV[7]), ARGV[9]

local before, revision, pools_before = unpack(redis.call('HMGET', KEYS[1], 'status', 'revision', 'pools'))
if (revision or '0') ~= expected then return { 'changed' } end
if not revision then
  local count = redis.call('ZCARD', key.agentsOf(tenant))
  if count >= limit then return { 'full', tostring(count) } end
  redis.call('ZADD', key.agentsOf(tenant), created, id)
end

local at = micros()
local next_revision = text(tonumber(expected) + 1)
for pool in string.gmatch(pools_before or '', '[^\n]+') do redis.call('SREM', key.agentsOfPool(pool), id) end
for pool in string.gmatch(pools, '[^\n]+') do redis.call('SADD', key.agentsOfPool(pool), id) end
redis.call('HSET', KEYS[1], 'pools', pools, 'document', document, 'tenant', tenant, 'status', status, 'revision', next_revision)
local act = ARGV[8]
if before and before ~= status then redis.call('ZADD', key.agentsChanged(), text(at), id) end
if status ~= 'active' and before == 'active' then
  local recorded = cjson.decode(act)
  for name, number in pairs(count_agent_jobs(id)) do recorded.extra[name] = number end
  act = cjson.encode(recorded)
end
audit('act', tenant, text(at), act)
return { 'written', next_revision }
