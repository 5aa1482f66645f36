--[[
  Counts the requests of one key in a sliding window, this one included. A job that is asked about twice counts once,
  at the time of its first request. The time is the store's, so that replicas agree. Policy contract 3.7.

  KEYS  1 window: sorted set of members by time, ms
  ARGV  1 `count` this request, or `look` without leaving a trace     2 member: the job's id     3 length of the window, ms

  Returns  how many there are
]]
local window = KEYS[1]
local how, member, window_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
local kept_after_ms = 60000

local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local oldest = now_ms - window_ms

if how == 'look' then
  local seen = tonumber(redis.call('ZSCORE', window, member) or oldest)
  local others = redis.call('ZCOUNT', window, string.format('(%d', oldest), '+inf')
  return seen > oldest and others or others + 1
end

redis.call('ZREMRANGEBYSCORE', window, '-inf', string.format('%d', oldest))
redis.call('ZADD', window, 'NX', string.format('%d', now_ms), member)
redis.call('PEXPIRE', window, window_ms + kept_after_ms)
return redis.call('ZCARD', window)
