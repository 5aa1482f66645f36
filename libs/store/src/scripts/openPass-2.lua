--[[
  Acquires the lock of a run for a pass, and returns its inbox, with the revision that validates cached state of the run.

  KEYS  1 run record   2 run lock
  ARGV  1 id   2 owner   3 lock duration (ms)   4 maximum number of events

  Returns  open <µs> <revision> <status> <ended 0|1> <acting 0|1> <event> ...  |  busy  |  missing
]]
local id, owner = ARGV[1], ARGV[2]
local revision, status, ended, acting = unpack(redis.call('HMGET', KEYS[1], 'revision', 'status', 'ended_at', 'acting'))
if not revision then return { 'missing' } end
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= owner then return { 'busy' } end
redis.call('SET', KEYS[2], owner, 'PX', ARGV[3])
local events = redis.call('LRANGE', key.runInbox(id), 0, ARGV[4] - 1)
return { 'open', text(micros()), revision, status, ended and '1' or '0', acting or '0', unpack(events) }
