--[[
  Removes a schedule with its pending starts and queue entries.

  KEYS  1 schedule: hash
  ARGV  1 id   2 its workflow

  Returns  removed  |  missing
]]
local workflow, hash = unpack(redis.call('HMGET', KEYS[1], 'workflow', 'hash'))
if workflow ~= ARGV[2] then return { 'missing' } end
content_before = hash or ''
schedule_forget(ARGV[1])
return { 'removed' }
