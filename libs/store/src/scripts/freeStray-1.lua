--[[
  Takes jobs out of a set of jobs in flight that are not, or not there. Their records are looked at in the same step, so
  that a job given out meanwhile keeps its slot.

  KEYS  1 the set: of a worker, of a tenant, or of all
  ARGV  1 worker whose set it is, or ''   2 tenant whose set it is, or ''   3... job ids to look at

  Returns  how many went
]]
local stray = {}
for i = 3, #ARGV do
  local state, worker = unpack(redis.call('HMGET', key.job(ARGV[i]), 'state', 'worker_id'))
  if not state or not is(IN_FLIGHT, state) or (ARGV[1] ~= '' and worker ~= ARGV[1]) then stray[#stray + 1] = ARGV[i] end
end
if #stray == 0 then return 0 end
local freed = redis.call('SREM', KEYS[1], unpack(stray))
if ARGV[2] ~= '' then lane_in_turn(ARGV[2]) end
return freed
