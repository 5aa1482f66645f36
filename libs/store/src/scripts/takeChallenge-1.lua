--[[
  Uses up the open challenge of a worker. Another answer than the one to this challenge leaves it open.

  KEYS  1 open challenge of the worker: string
  ARGV  1 id of the challenge   2 challenge

  Returns  taken  |  missing  |  changed
]]
local id, challenge = ARGV[1], ARGV[2]

local open = redis.call('GET', KEYS[1])
-- Used, expired, or replaced by a newer one.
if not open or open:sub(1, #id + 1) ~= id .. ' ' then return { 'missing' } end
if open:sub(#id + 2) ~= challenge then return { 'changed' } end
redis.call('DEL', KEYS[1])
return { 'taken' }
