--[[
  Removes runs past their retention from the indexes; their records have expired or expire now.

  KEYS  1 runs that have ended, by end of retention
  ARGV  1 now, ms   2 maximum number

  Returns  number of removed runs
]]
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, member in ipairs(due) do run_forget(unpack(cjson.decode(member))) end
return #due
