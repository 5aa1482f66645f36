--[[
  Removes the oldest events of the chain of a tenant and keeps where it was cut, so that verification begins there. Nothing is
  removed under a legal hold, or when another process has cut the chain in between.

  KEYS  1 chain
  ARGV  1 tenant   2 sequence number of the cut that was read, 0 = none   3 sequence number of the newest event to remove
        4 its hash   5 id of the first entry to keep, or an id before it   6 act (JSON), '' = not recorded

  Returns  trimmed <number of events>  |  held  |  changed
]]
local tenant, read, seq, hash, first_kept, act = unpack(ARGV)

if redis.call('HEXISTS', key.legalHoldsActive(), tenant) == 1 then return { 'held' } end
if (redis.call('HGET', key.auditState(tenant), 'boundary_seq') or '0') ~= read then return { 'changed' } end
local count = redis.call('XTRIM', KEYS[1], 'MINID', first_kept)
redis.call('HSET', key.auditState(tenant), 'boundary_seq', seq, 'boundary_hash', hash)
if act ~= '' then audit('act', tenant, text(micros()), act) end
return { 'trimmed', count }
