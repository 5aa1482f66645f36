--[[
  Reads a session and its user, and notes that it is used. A session ends at its time, after a time without use, and with the
  generation of its user, which changes when the password is replaced, the user is disabled or loses a permission.

  KEYS  1 session: hash
  ARGV  1 hash of its token   2 now, ms   3 time without use after which it ends, ms   4 interval at which its use is noted, ms

  Returns  found <document> <last use before this one, ms> <document of the user, '' = of an API key>  |  missing
]]
local hash, now_ms, idle_ms, note_ms = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local document, owner, user, generation, ends, seen =
  unpack(redis.call('HMGET', KEYS[1], 'document', 'owner', 'user', 'generation', 'expires_at', 'seen'))
if not document then return { 'missing' } end

local ends_ms, seen_ms, of_user = tonumber(ends), tonumber(seen), ''
local has_ended = ends_ms <= now_ms or seen_ms + idle_ms <= now_ms
if user ~= '' and not has_ended then
  local stored, current = unpack(redis.call('HMGET', key.user(user), 'document', 'generation'))
  has_ended = not stored or current ~= generation
  of_user = stored or ''
end
if has_ended then
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', key.sessionsOf(owner), hash)
  return { 'missing' }
end
if now_ms - seen_ms >= note_ms then
  redis.call('HSET', KEYS[1], 'seen', text(now_ms))
  redis.call('PEXPIRE', KEYS[1], text(math.min(idle_ms, ends_ms - now_ms)))
end
return { 'found', document, seen, of_user }
