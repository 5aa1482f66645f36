--[[
  Restarts the time of an owner that holds a lock.

  KEYS  1 lock
  ARGV  1 owner   2 duration, ms

  Returns  held <as lock_reply>  |  not_held
]]
local lock, owner, ttl_ms = KEYS[1], ARGV[1], tonumber(ARGV[2])
local at = micros()
local now_ms = math.floor(at / 1000)
local state = read_lock(lock, now_ms)
local own = state and state.owners[owner]
if not own then return { 'not_held' } end
own.expires = now_ms + ttl_ms
write_lock(lock, state, owner, at)
return lock_reply('held', state)
