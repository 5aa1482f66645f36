--[[
  Opens a session. An owner has a bounded number of them: the one that would end first makes room for a new one.

  KEYS  1 session: hash
  ARGV  1 hash of its token   2 owner   3 document (JSON)   4 user id, '' = of an API key   5 generation of the user
        6 its end, ms   7 now, ms   8 time without use after which it ends, ms   9 maximum number of sessions of the owner

  Returns  created
]]
local hash, owner, document, user, generation, ends_ms, now_ms, idle_ms, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5],
  tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local all = key.sessionsOf(owner)

redis.call('ZREMRANGEBYSCORE', all, '-inf', text(now_ms))
local surplus = redis.call('ZCARD', all) + 1 - limit
if surplus > 0 then
  for _, oldest in ipairs(redis.call('ZRANGE', all, 0, surplus - 1)) do
    redis.call('DEL', key.session(oldest))
    redis.call('ZREM', all, oldest)
  end
end

redis.call('HSET', KEYS[1], 'document', document, 'tenant', cjson.decode(document).tenant, 'owner', owner, 'user', user, 'generation', generation,
  'expires_at', text(ends_ms), 'seen', text(now_ms))
redis.call('PEXPIRE', KEYS[1], text(math.min(idle_ms, ends_ms - now_ms)))
redis.call('ZADD', all, text(ends_ms), hash)
local newest = redis.call('ZRANGE', all, -1, -1, 'WITHSCORES')
redis.call('PEXPIRE', all, text(math.max(1, tonumber(newest[2]) - now_ms)))
return { 'created' }
