--[[
  Fires a timer of a run that is due by Redis' clock: it is taken away and the run is told, once.

  KEYS  1 run record
  ARGV  1 id   2 member

  Returns  fired <how late, ms>  |  early <ms left>  |  gone
]]
local id, member = ARGV[1], ARGV[2]
local timer = redis.call('HGET', key.runTimers(id), member)
if not timer then return { 'gone' } end
local due_ms, now_ms = tonumber(cjson.decode(timer)[1]), math.floor(micros() / 1000)
if now_ms < due_ms then return { 'early', text(due_ms - now_ms) } end
run_clear_timer(id, redis.call('HGET', KEYS[1], 'workflow') or '', member)
run_post(id, cjson.encode({ kind = 'timerFired', timerId = member }), now_ms)
return { 'fired', text(now_ms - due_ms) }
