--[[
  Whether a job has a queue entry that will be processed. Failed entries do not count.

  KEYS  1 job record
  ARGV  1 job id

  Returns  1  |  0
]]
local parked, entry = unpack(redis.call('HMGET', KEYS[1], 'parked', 'entry'))
local queue = parked ~= '' and parked or 'jobs'
if not entry or parked ~= '' then entry = bull_id(ARGV[1]) end
local prefix = bull[queue].prefix
if redis.call('EXISTS', prefix .. entry) == 0 then return 0 end
return redis.call('ZSCORE', prefix .. 'failed', entry) and 0 or 1
