--[[
  Records which processes of a worker send dispatch ids in results and progress. The record expires when all of them stop
  sending heartbeats. Heartbeats of other processes neither renew nor end it, so a forged one cannot reset it.

  KEYS  1 boot ids of those processes
  ARGV  1 announce: the heartbeat of the process announces it
          learn: a valid report named its dispatch; ignored if a record exists, since any live process may have sent it
          keep: a heartbeat without the announcement
        2 time to live, ms   3 maximum number of boot ids   4... boot ids, '' for a process without one

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
