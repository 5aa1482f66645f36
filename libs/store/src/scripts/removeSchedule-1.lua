--[[
  Removes a schedule with its pending starts and queue entries.

  KEYS  1 schedule: hash
  ARGV  1 id   2 its workflow

  Returns  removed  |  missing
]]
if redis.call('HGET', KEYS[1], 'workflow') ~= ARGV[2] then return { 'missing' } end
schedule_forget(ARGV[1])
return { 'removed' }
