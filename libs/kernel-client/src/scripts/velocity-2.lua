--[[
  Counts the requests of one key in a sliding window, this one included. A job that is asked about twice counts once,
  at the time of its first request. The time is the store's, so that replicas agree. Policy contract 3.7.

  Beside it stands which windows of the rule hold anything, so that statistics need not search the store: the newest of
  them, until nothing can be in them any more.

  KEYS  1 window: sorted set of members by time, ms     2 windows of the rule: sorted set of their names by until when, ms
  ARGV  1 `count` this request, or `look` without leaving a trace     2 member: the job's id     3 length of the window, ms
        4 name of the window     5 how many windows of the rule are remembered

  Returns  how many there are
]]
local window, windows = KEYS[1], KEYS[2]
local how, member, window_ms, name, remembered = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
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
local count = redis.call('ZCARD', window)
-- A window that holds many is counted in often: it is remembered now and then, which costs next to nothing and all but
-- surely happens while it holds them.
if count > 64 and now_ms % 8 ~= 0 then return count end
if redis.call('ZADD', windows, string.format('%d', now_ms + window_ms), name) == 1 then
  redis.call('ZREMRANGEBYSCORE', windows, '-inf', string.format('(%d', now_ms))
  redis.call('ZREMRANGEBYRANK', windows, 0, -remembered - 1)
end
redis.call('PEXPIRE', windows, window_ms + kept_after_ms)
return count
