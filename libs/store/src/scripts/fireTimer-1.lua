--[[
  Fires a timer of a run that is due by the Redis clock: removes it and adds an event to the inbox, once.

  KEYS  1 run record
  ARGV  1 id   2 member

  Returns  fired <delay, ms>  |  early <remaining ms>  |  gone
]]
local id, member = ARGV[1], ARGV[2]
local timer = redis.call('HGET', key.runTimers(id), member)
if not timer then return { 'gone' } end
local due_ms, now_ms = tonumber(cjson.decode(timer)[1]), math.floor(micros() / 1000)
if now_ms < due_ms then return { 'early', text(due_ms - now_ms) } end
run_clear_timer(id, redis.call('HGET', KEYS[1], 'workflow') or '', member)
run_post(id, cjson.encode({ kind = 'timerFired', timerId = member }), now_ms)
return { 'fired', text(now_ms - due_ms) }
