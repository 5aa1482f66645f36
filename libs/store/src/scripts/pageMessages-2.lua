--[[
  Messages of a memory up to a position, counted from the first message there ever was.

  KEYS  1 messages, oldest first   2 how many were dropped
  ARGV  1 position of the newest to read, '' = the newest there is   2 at most how many

  Returns  position of the last message below, then messages (JSON), oldest first
]]
local gone = tonumber(redis.call('GET', KEYS[2]) or 0)
local newest = redis.call('LLEN', KEYS[1]) - 1
local last = ARGV[1] == '' and newest or math.min(newest, tonumber(ARGV[1]) - gone)
if last < 0 then return { '-1' } end
return { text(gone + last), unpack(redis.call('LRANGE', KEYS[1], math.max(0, last - tonumber(ARGV[2]) + 1), last)) }
