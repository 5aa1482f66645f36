--[[
  Requeues an open job: removes it from its queue or lane and adds a new queue entry. Used by the reconciler for jobs
  without a queue entry. No-op when the job was updated since it was read.

  KEYS  1 job record
  ARGV  1 job id   2 updated_at that was read   3 entry suffix   4 priority

  Returns  requeued  |  changed
]]
local id = ARGV[1]
local tenant, updated, topic, parked, lane, level, run, path, limits, blocked, cost = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'updated_at',
  'topic', 'parked', 'lane', 'level', 'run', 'run_path', 'limits', 'blocked', 'turn_cost'))
if updated ~= ARGV[2] then return { 'changed' } end
if parked and parked ~= '' then bull_unpark(parked, bull_id(id)) end
if lane and lane ~= '' then lane_remove(lane, level, tenant, id) end
local now_ms = math.floor(micros() / 1000)
if blocked and blocked ~= '' then
  limit_stop_waiting(id, tenant, cjson.decode(limits), blocked, now_ms)
  redis.call('HSET', KEYS[1], 'blocked', '')
end
redis.call('HSET', KEYS[1], 'parked', '', 'lane', '', 'entry', entry_id(id, { suffix = ARGV[3] }))
enqueue(id, topic, { queue = 'jobs', suffix = ARGV[3], priority = ARGV[4] }, now_ms, path and run, path,
  tenant, cost)
return { 'requeued' }
