--[[
  Opens the challenge of a handshake for a worker that has proven its key. It replaces an earlier one, so that a worker has at
  most one open challenge. The nonces of requests are kept for longer than a request is valid, so that a repeated request
  neither replaces the challenge nor counts for the limits.

  KEYS  1 open challenge of the worker: string
  ARGV  1 worker id   2 nonce of the request   3 id of the challenge   4 challenge   5 how long it is open, ms
        6 maximum number for one worker in this time   7 maximum number for all workers in a second

  Returns  opened  |  repeated  |  limited
]]
local id, nonce, challenge_id, challenge, open_ms, worker_max, all_max = ARGV[1], ARGV[2], ARGV[3], ARGV[4],
  tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local now_ms = math.floor(micros() / 1000)
local nonces, rate = key.handshakeNonces(id), key.handshakeRate()

redis.call('ZREMRANGEBYSCORE', nonces, '-inf', '(' .. text(now_ms - 2 * open_ms))
if redis.call('ZSCORE', nonces, nonce) then return { 'repeated' } end
if redis.call('ZCOUNT', nonces, text(now_ms - open_ms), '+inf') >= worker_max then return { 'limited' } end
local count = redis.call('INCR', rate)
if count == 1 then redis.call('PEXPIRE', rate, 1000) end
if count > all_max then return { 'limited' } end

redis.call('ZADD', nonces, text(now_ms), nonce)
redis.call('PEXPIRE', nonces, 2 * open_ms)
redis.call('SET', KEYS[1], challenge_id .. ' ' .. challenge, 'PX', open_ms)
return { 'opened' }
