--[[
  Takes runs out of the board that ended long ago, with all their steps. The runs themselves are kept as long as they are.

  KEYS  1 runs in the board that completed
  ARGV  1, 2 for how long completed and failed ones are shown (ms)   3 at most how many of each

  Returns  how many
]]
local now_ms, swept = math.floor(micros() / 1000), 0
for i, place in ipairs({ 'completed', 'failed' }) do
  local before = text(now_ms - tonumber(ARGV[i]))
  local old = redis.call('ZRANGEBYSCORE', bull.runs.prefix .. place, '-inf', before, 'LIMIT', 0, ARGV[3])
  for _, entry in ipairs(old) do tree_remove_entry('runs', entry) end
  swept = swept + #old
end
return swept
