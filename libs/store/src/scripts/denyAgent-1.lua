--[[
  Records that a call of an agent was refused: in its list, in its numbers and in the audit.

  KEYS  1 refusals of the agent: list
  ARGV  1 agent   2 tenant   3 refusal (JSON)   4 number of refusals to keep   5 act (JSON)
        6 job whose refusal is recorded once, '' = record each call

  Returns  recorded  |  repeated
]]
local ONCE_SEC = 86400
if ARGV[6] ~= '' and not redis.call('SET', key.agentRefusal(ARGV[6]), '1', 'NX', 'EX', ONCE_SEC) then
  return { 'repeated' }
end
local at = micros()
redis.call('LPUSH', KEYS[1], ARGV[3])
redis.call('LTRIM', KEYS[1], 0, tonumber(ARGV[4]) - 1)
count_agent(ARGV[1], 'denied', at)
audit('act', ARGV[2], text(at), ARGV[5])
return { 'recorded' }
