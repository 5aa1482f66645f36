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

local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local oldest = now_ms - window_ms

if how == 'look' then
  local seen = tonumber(redis.call('ZSCORE', window, member) or oldest)
  local others = redis.call('ZCOUNT', window, string.format('(%d', oldest), '+inf')
  return seen > oldest and others or others + 1
end

local gone = redis.call('ZREMRANGEBYSCORE', window, '-inf', string.format('%d', oldest))
redis.call('ZADD', window, 'NX', string.format('%d', now_ms), member)
local count = redis.call('ZCARD', window)
if count > 1 and gone == 0 then return count end

-- It is new, or something left it. What is in it now leaves it by the first request that comes later than a window's
-- length from now, which renews this; if none comes for another window and some more, nothing in it counts any more.
local kept_ms = 2 * window_ms + 60000
redis.call('PEXPIRE', window, kept_ms)
if redis.call('ZADD', windows, string.format('%d', now_ms + kept_ms), name) == 1 then
  redis.call('ZREMRANGEBYSCORE', windows, '-inf', string.format('(%d', now_ms))
  redis.call('ZREMRANGEBYRANK', windows, 0, -remembered - 1)
end
-- Rules of one id may have had longer windows.
redis.call('PEXPIRE', windows, kept_ms, 'NX')
redis.call('PEXPIRE', windows, kept_ms, 'GT')
return count
