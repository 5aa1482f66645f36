--[[
  Removes ended runs and their steps from Bull Board. The retention of the runs themselves is not affected.

  KEYS  1 completed runs in the board
  ARGV  1, 2 how long completed and failed runs are shown (ms)   3 maximum number of each

  Returns  number of removed runs
]]
local now_ms, swept = math.floor(micros() / 1000), 0
for i, place in ipairs({ 'completed', 'failed' }) do
  local before = text(now_ms - tonumber(ARGV[i]))
  local old = redis.call('ZRANGEBYSCORE', bull.runs.prefix .. place, '-inf', before, 'LIMIT', 0, ARGV[3])
  for _, entry in ipairs(old) do tree_remove_entry('runs', entry) end
  swept = swept + #old
end
return swept
