--[[
  Makes a token the session of a worker whose credential is valid. The token before it stays valid for a short time, so that
  packets under way still count, unless it was revoked.

  KEYS  1 sessions: hash
  ARGV  1 worker id   2 id of the token   3 its end, unix ms   4 now, unix ms   5 end of the previous token, unix ms
        6 id of the token that is renewed, '' = none   7 ... capabilities that the worker declared

  Returns  issued  |  refused
]]
local id, jti, exp_ms, now_ms, previous_ms, renewed = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]),
  tonumber(ARGV[5]), ARGV[6]

if redis.call('SISMEMBER', key.workerCredentialsActive(), id) == 0 then return { 'refused' } end
local text = redis.call('HGET', KEYS[1], id)
local before = text and cjson.decode(text)
local is_live = before and not before.revoked and before.exp_ms > now_ms
if renewed ~= '' and not (is_live and before.jti == renewed) then return { 'refused' } end

local session = { jti = jti, exp_ms = exp_ms, issued_ms = now_ms }
-- An empty table would be encoded as an object.
if #ARGV > 6 then session.capabilities = { unpack(ARGV, 7) } end
if is_live then
  session.previous = before.jti
  session.previous_ms = math.min(previous_ms, before.exp_ms)
end
redis.call('HSET', KEYS[1], id, cjson.encode(session))
note_trust_change(id)
return { 'issued' }
