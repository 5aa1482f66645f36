--[[
  Remembers a signed packet of a worker, and reports whether it was received before. The memory of a worker is bounded: when it
  is full, the oldest packet is forgotten, and packets that are not newer than the remembered ones count as received.

  KEYS  1 packets of the worker: sorted set
  ARGV  1 id of the packet   2 time of the packet, unix ms   3 how long packets are kept, ms   4 maximum number of packets

  Returns  new  |  seen
]]
local packet, sent_ms, keep_ms, max = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])

if redis.call('ZSCORE', KEYS[1], packet) then return { 'seen' } end
if redis.call('ZCARD', KEYS[1]) >= max then
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  if sent_ms <= tonumber(oldest[2]) then return { 'seen' } end
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, 0)
end
redis.call('ZADD', KEYS[1], text(sent_ms), packet)
redis.call('PEXPIRE', KEYS[1], keep_ms)
return { 'new' }
