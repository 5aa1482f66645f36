--[[
  Ends the application of a new status, if the agent still has that status and, unless it is active, no open jobs. Jobs that
  ended without leaving its list are removed from it.

  KEYS  1 open jobs of the agent: set
  ARGV  1 agent   2 status that was applied   3 ... jobs that were found to have ended

  Returns  finished  |  changed  |  open <count>
]]
local id, status = ARGV[1], ARGV[2]
for i = 3, #ARGV do
  local state = redis.call('HGET', key.job(ARGV[i]), 'state')
  if not state or is(TERMINAL, state) then redis.call('SREM', KEYS[1], ARGV[i]) end
end
if redis.call('HGET', key.agent(id), 'status') ~= status then return { 'changed' } end
local open = redis.call('SCARD', KEYS[1])
if status ~= 'active' and open > 0 then return { 'open', tostring(open) } end
redis.call('ZREM', key.agentsChanged(), id)
return { 'finished' }
