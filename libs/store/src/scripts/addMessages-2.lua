--[[
  Appends messages to a memory and drops the oldest over the limit. They are counted, so that the position of a
  message is the number of all earlier messages. Under a legal hold of its tenant none is dropped.

  KEYS  1 messages, oldest first   2 number of dropped messages
  ARGV  1 number of messages to keep   2 change to announce (JSON), '' = none   3 id of the memory
        4 ... messages (JSON)

  Returns  position of the last message
]]
local messages, dropped = KEYS[1], KEYS[2]
local keep = tonumber(ARGV[1])
run_write('RPUSH', messages, ARGV, 4, #ARGV - 3)
if ARGV[2] ~= '' and follows_changes() then changes[#changes + 1] = ARGV[2] end
local count = redis.call('LLEN', messages)
local gone = tonumber(redis.call('GET', dropped) or 0)
if count > keep and not on_hold(memory_owner(ARGV[3]) or '') then
  redis.call('LTRIM', messages, -keep, -1)
  gone = redis.call('INCRBY', dropped, count - keep)
  count = keep
end
return gone + count - 1
