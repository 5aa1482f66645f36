--[[
  Takes jobs out of a set of jobs in flight that are not, or not there. Their records are looked at in the same step, so
  that a job given out meanwhile keeps its slot.

  KEYS  1 the set: of a worker, or of all
  ARGV  1 worker whose set it is, or ''   2... job ids to look at

  Returns  how many went
]]
local stray = {}
for i = 2, #ARGV do
  local state, worker = unpack(redis.call('HMGET', key.job(ARGV[i]), 'state', 'worker_id'))
  if not state or not is(IN_FLIGHT, state) or (ARGV[1] ~= '' and worker ~= ARGV[1]) then stray[#stray + 1] = ARGV[i] end
end
if #stray == 0 then return 0 end
return redis.call('SREM', KEYS[1], unpack(stray))
