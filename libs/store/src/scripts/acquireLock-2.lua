--[[
  Acquires a lock for an owner, or increases the count of an owner that holds it.

  KEYS  1 lock   2 newest fencing token
  ARGV  1 owner   2 'exclusive' or 'shared'   3 duration, ms   4 maximum number of owners

  An owner keeps its token while it holds the lock, so that nested acquisitions use the same one; a change to exclusive gives
  a new token, since owners that shared the lock in between have newer ones.

  Returns  held <as lock_reply>  |  unavailable
]]
local lock, tokens = KEYS[1], KEYS[2]
local owner, mode, ttl_ms, max_owners = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local at = micros()
local now_ms = math.floor(at / 1000)

local state = read_lock(lock, now_ms) or { mode = mode, owners = {}, names = {} }
local own, count = state.owners[owner], #state.names
local others = own and count - 1 or count
local becomes_exclusive = own and mode == 'exclusive' and state.mode == 'shared'
if others > 0 and (mode == 'exclusive' or state.mode == 'exclusive') then return { 'unavailable' } end
if not own then
  if count >= max_owners then return { 'unavailable' } end
  own = { count = 0 }
  state.owners[owner], state.names[count + 1] = own, owner
end
if becomes_exclusive then state.mode = 'exclusive' end
if not own.token or becomes_exclusive then own.token = next_lock_token(tokens, at) end
own.count, own.expires = own.count + 1, now_ms + ttl_ms
write_lock(lock, state, owner, at)
return lock_reply('held', state)
