--[[
  Ends the stop of an agent, if it has no open jobs left. Jobs that ended without leaving its list are removed from it.

  KEYS  1 open jobs of the agent: set
  ARGV  1 agent   2 ... jobs that were found to have ended

  Returns  finished  |  open <count>
]]
for i = 2, #ARGV do
  local state = redis.call('HGET', key.job(ARGV[i]), 'state')
  if not state or is(TERMINAL, state) then redis.call('SREM', KEYS[1], ARGV[i]) end
end
local open = redis.call('SCARD', KEYS[1])
if open > 0 then return { 'open', tostring(open) } end
redis.call('ZREM', key.agentsStopping(), ARGV[1])
return { 'finished' }
