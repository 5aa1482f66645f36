--[[
  Decreases the count of an owner; at 0 it no longer holds the lock, and a lock without owners is freed.

  KEYS  1 lock
  ARGV  1 owner

  Returns  held <as lock_reply>  |  freed  |  not_held
]]
local lock, owner = KEYS[1], ARGV[1]
local at = micros()
local state = read_lock(lock, math.floor(at / 1000))
local own = state and state.owners[owner]
if not own then return { 'not_held' } end
own.count = own.count - 1
if own.count == 0 then
  if not state.names[2] then
    redis.call('DEL', lock)
    return { 'freed' }
  end
  redis.call('HDEL', lock, 'o:' .. owner)
  state.owners[owner] = nil
end
write_lock(lock, state, owner, at)
return lock_reply('held', state)
