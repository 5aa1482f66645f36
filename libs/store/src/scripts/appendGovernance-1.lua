--[[
  Appends entries to a governance log of a tenant, which is derived from another record, and drops expired entries and those
  over the limit. Entries have a position in their source: those up to the stored one are ignored, so that the source may send
  an entry twice. Entries get the time of their event as id, or that of the newest entry if it is later.

  KEYS  1 log: stream
  ARGV  1 { tenant, log, keep_ms, max, entries = { { position, at_ms, rule, topic, fields = { field, value, ... } }, ... } }
        (JSON): log is `decisions` or `resolutions`; position 0 = without one

  Returns  appended <number of new entries>
]]
local n = cjson.decode(ARGV[1])
local now_ms = math.floor(micros() / 1000)
local oldest = text(now_ms - n.keep_ms)
local marks, rules, defaults = key.governanceMarks(n.tenant), key.ruleMatches(n.tenant), key.defaultedTopics(n.tenant)
local position = tonumber(redis.call('HGET', marks, n.log) or 0)
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local last_ms = newest and tonumber(string.match(newest[1], '^%d+')) or 0
local appended = 0

for _, entry in ipairs(n.entries) do
  if entry.position == 0 or entry.position > position then
    position = math.max(position, entry.position)
    last_ms = math.max(last_ms, entry.at_ms)
    redis.call('XADD', KEYS[1], text(last_ms) .. '-*', unpack(entry.fields))
    appended = appended + 1
    if n.log == 'decisions' then
      local seen, name = rules, entry.rule
      if name == '' then seen, name = defaults, entry.topic end
      redis.call('ZADD', seen, 'GT', text(entry.at_ms), name)
    end
  end
end

redis.call('HSET', marks, n.log, text(position))
redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', n.max)
redis.call('XTRIM', KEYS[1], 'MINID', '~', oldest)
for _, seen in ipairs({ rules, defaults }) do
  redis.call('ZREMRANGEBYSCORE', seen, '-inf', oldest)
  redis.call('ZREMRANGEBYRANK', seen, 0, -10001)
  redis.call('PEXPIRE', seen, n.keep_ms)
end
redis.call('PEXPIRE', KEYS[1], n.keep_ms)
redis.call('PEXPIRE', marks, n.keep_ms)
return { 'appended', text(appended) }
