--[[
  Reads messages of a memory up to a position, counted from its first message, dropped ones included.

  KEYS  1 messages, oldest first   2 number of dropped messages
  ARGV  1 position of the newest to read, '' = the newest   2 maximum number

  Returns  position of the last message below, then messages (JSON), oldest first
]]
local gone = tonumber(redis.call('GET', KEYS[2]) or 0)
local newest = redis.call('LLEN', KEYS[1]) - 1
local last = ARGV[1] == '' and newest or math.min(newest, tonumber(ARGV[1]) - gone)
if last < 0 then return { '-1' } end
return { text(gone + last), unpack(redis.call('LRANGE', KEYS[1], math.max(0, last - tonumber(ARGV[2]) + 1), last)) }
