--[[
  Removes runs whose time is over from the indexes; their records have expired, or do so now.

  KEYS  1 runs that have ended, by when they are over
  ARGV  1 now, ms   2 at most how many

  Returns  how many
]]
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, member in ipairs(due) do run_forget(unpack(cjson.decode(member))) end
return #due
