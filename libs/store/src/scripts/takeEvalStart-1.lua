--[[
  Takes one of a limited number of starts per hour.

  KEYS  1 starts of the last hour: zset
  ARGV  1 id of the start   2 maximum per hour

  Returns  taken  |  limited <ms until the next>
]]
local now_ms = math.floor(micros() / 1000)
local wait_ms = evals.start_wait(KEYS[1], now_ms, tonumber(ARGV[2]))
if wait_ms > 0 then return { 'limited', text(wait_ms) } end
evals.count_start(KEYS[1], ARGV[1], now_ms)
return { 'taken' }
