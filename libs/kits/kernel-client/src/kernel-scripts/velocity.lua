--[[
  Counts requests, each in the sliding window of its key, and returns their positions there: 1 for the oldest request of the
  window. Requests that arrive later never change the position, so a job that was within the limit stays within it. A job
  that is checked again keeps the time of its first check. The time is the store's, so that replicas agree.

  A second key of each request lists the non-empty windows of the rule, so that statistics need no key scan: the newest of
  them, until nothing can be in them any more.

  KEYS  for each request: 1 window: sorted set of members by time, ms     2 windows of the rule: sorted set of their names by
        until when, ms
  ARGV  for each request: 1 `count` this request, or `look` without counting     2 member: the job's id     3 length of the
        window, ms     4 name of the window     5 how many windows of the rule are remembered

  Returns  for each request its position in the window, or the text of its error
]]
local time = redis.call('TIME')
local started_ms = time[1] * 1000 + time[2] / 1000

local function check(window, windows, how, member, window_ms, name, remembered, now_ms)
  local oldest = string.format('%.3f', now_ms - window_ms)

  if how == 'look' then
    local seen = redis.call('ZSCORE', window, member)
    if seen and tonumber(seen) > tonumber(oldest) then
      return redis.call('ZRANK', window, member) + 1 - redis.call('ZCOUNT', window, '-inf', oldest)
    end
    return redis.call('ZCOUNT', window, '(' .. oldest, '+inf') + 1
  end

  local gone = redis.call('ZREMRANGEBYSCORE', window, '-inf', oldest)
  local is_new = redis.call('ZADD', window, 'NX', string.format('%.3f', now_ms), member) == 1
  if is_new and redis.call('ZREVRANK', window, member) ~= 0 then
    -- Another request has the same microsecond, or the clock was set back: this one still comes after all others.
    local newest = redis.call('ZRANGE', window, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', window, string.format('%.3f', newest + 0.001), member)
  end
  local position = is_new and redis.call('ZCARD', window) or redis.call('ZRANK', window, member) + 1
  if position > 1 and gone == 0 then return position end

  -- It is new, or something left it. What is in it now leaves it by the first request that comes later than a window's
  -- length from now, which renews this; if none comes for another window and some more, nothing in it counts any more.
  local kept_ms = 2 * window_ms + 60000
  redis.call('PEXPIRE', window, kept_ms)
  if redis.call('ZADD', windows, string.format('%.0f', now_ms + kept_ms), name) == 1 then
    redis.call('ZREMRANGEBYSCORE', windows, '-inf', string.format('(%.0f', now_ms))
    redis.call('ZREMRANGEBYRANK', windows, 0, -remembered - 1)
  end
  -- Rules of one id may have had longer windows.
  redis.call('PEXPIRE', windows, kept_ms, 'NX')
  redis.call('PEXPIRE', windows, kept_ms, 'GT')
  return position
end

local positions = {}
for i = 1, #KEYS / 2 do
  local k, a = 2 * (i - 1), 5 * (i - 1)
  -- Requests of one call are a microsecond apart, so that each comes after those before it.
  local ok, result = pcall(check, KEYS[k + 1], KEYS[k + 2], ARGV[a + 1], ARGV[a + 2], tonumber(ARGV[a + 3]), ARGV[a + 4],
    tonumber(ARGV[a + 5]), started_ms + (i - 1) / 1000)
  positions[i] = ok and result or tostring(type(result) == 'table' and result.err or result)
end
return positions
