--[[
  Resolves a quarantined output by releasing or confirming it: the output check in the job record, the dead letter and
  the audit change together or not at all. The job keeps its state.

  KEYS  1 job record   2 dead-letter entry
  ARGV  1 job id   2 tenant   3 the output check that was read   4 the new one   5 new pointer of the result, ''
        keeps it   6 key that must exist, '' for none   7 audit entry (JSON)   8 number of audit entries to keep

  Returns  settled  |  absent: no dead letter  |  changed: the output check or the state changed  |
           expired: the key does not exist
]]
local id, tenant, read, verdict, pointer, body = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local entry, kept = ARGV[7], tonumber(ARGV[8])

if redis.call('EXISTS', KEYS[2]) == 0 then return { 'absent' } end
local state, safety = unpack(redis.call('HMGET', KEYS[1], 'state', 'output_safety'))
if state ~= 'OUTPUT_QUARANTINED' or safety ~= read then return { 'changed' } end
if body ~= '' and redis.call('EXISTS', body) == 0 then return { 'expired' } end

redis.call('HSET', KEYS[1], 'output_safety', verdict)
if pointer ~= '' then redis.call('HSET', KEYS[1], 'result_ptr', pointer) end
append_audit(tenant, entry, kept)
scripts.removeDeadLetter({ KEYS[2] }, { id, tenant })
return { 'settled' }
