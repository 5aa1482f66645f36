--[[
  Removes a run of a dataset with its result, and appends to the policy audit in the same step. A run in progress ends: its
  processor finds no record.

  KEYS  1 run: hash
  ARGV  1 tenant   2 kind   3 run id   then the arguments of writePolicy for the audit entry

  Returns  removed  |  missing
]]
local tenant, kind, id = ARGV[1], ARGV[2], ARGV[3]
local owner, stored_kind, dataset, bytes = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'kind', 'dataset', 'bytes'))
if owner ~= tenant or stored_kind ~= kind then return { 'missing' } end

redis.call('DEL', KEYS[1], key.evalResult(id))
redis.call('ZREM', key.evalRunsOf(dataset), kind .. ':' .. id)
if redis.call('GET', key.evalLock(dataset)) == id then redis.call('DEL', key.evalLock(dataset)) end
if bytes then evals.subtract(tenant, id, tonumber(bytes)) end
scripts.writePolicy({ '' }, { unpack(ARGV, 4) })
return { 'removed' }
