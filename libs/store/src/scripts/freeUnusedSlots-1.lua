--[[
  Removes jobs from an in-flight set that are not in flight or do not exist. Their records are read in the same step, so
  that a concurrently dispatched job keeps its slot.

  KEYS  1 the set: of a worker, or of all
  ARGV  1 worker that owns the set, or ''   2... job ids to check

  Returns  number of removed jobs
]]
local stray = {}
for i = 2, #ARGV do
  local state, worker = unpack(redis.call('HMGET', key.job(ARGV[i]), 'state', 'worker_id'))
  if not state or not is(IN_FLIGHT, state) or (ARGV[1] ~= '' and worker ~= ARGV[1]) then stray[#stray + 1] = ARGV[i] end
end
if #stray == 0 then return 0 end
return redis.call('SREM', KEYS[1], unpack(stray))
