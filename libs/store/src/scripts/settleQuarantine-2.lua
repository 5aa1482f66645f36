--[[
  Ends the matter of a quarantined output, by releasing or by confirming it: the verdict that is kept with the job, its dead
  letter and the audit change together or not at all. The job's state stays.

  KEYS  1 job record   2 dead-letter entry
  ARGV  1 job id   2 tenant   3 the verdict as it was read   4 the verdict to keep   5 pointer of the result from now on, ''
        leaves it   6 key that must exist, '' for none   7 entry of the audit (JSON)   8 how many entries stay

  Returns  settled  |  absent: there is no dead letter  |  changed: another verdict is kept, or another state  |
           expired: there is nothing at the key
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
