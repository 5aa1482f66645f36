--[[
  Remembers which processes of a worker name the dispatch in their results and progress. The record expires when all of
  them are silent. A heartbeat of any other process neither renews it nor ends it, so it cannot be reset by a forged one.

  KEYS  1 boot ids of those processes
  ARGV  1 announce: the process says so in its heartbeat
          learn: a valid report named its dispatch; the sender may be any live process, and a record that exists explains it
          keep: a heartbeat of a process that announces nothing
        2 time to live, ms   3 boot ids that are kept at most   4... boot ids, '' for a process without one

  Returns  known  |  unknown
]]
local record, mode, ttl_ms, max = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local is_known = redis.call('EXISTS', record) == 1
if mode == 'announce' or (mode == 'learn' and not is_known) then
  for i = 4, #ARGV do
    if redis.call('SCARD', record) < max then redis.call('SADD', record, ARGV[i]) end
  end
  is_known = true
elseif mode == 'learn' or not is_known or redis.call('SISMEMBER', record, ARGV[4]) == 0 then
  return { is_known and 'known' or 'unknown' }
end
redis.call('PEXPIRE', record, ttl_ms)
return { 'known' }
