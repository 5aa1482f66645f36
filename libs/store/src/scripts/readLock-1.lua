--[[
  Reads a lock.

  KEYS  1 lock

  Returns  held <as lock_reply>  |  missing
]]
local state = read_lock(KEYS[1], math.floor(micros() / 1000))
return state and lock_reply('held', state) or { 'missing' }
