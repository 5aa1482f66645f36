--[[
  Adds an event to the inbox of a run and wakes it.

  KEYS  1 run record
  ARGV  1 id   2 event (JSON)   3 tenant scope, '*' for any   4 workflow it must belong to, '' for any

  Returns  posted  |  ended <status>  |  missing  |  other_tenant
]]
local id, scope, wanted = ARGV[1], ARGV[3], ARGV[4]
local tenant, workflow, status = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'workflow', 'status'))
if not tenant then return { 'missing' } end
if scope ~= '*' and scope ~= tenant then return { 'other_tenant' } end
if wanted ~= '' and wanted ~= workflow then return { 'missing' } end
if run_post(id, ARGV[2], math.floor(micros() / 1000)) then return { 'posted' } end
return { 'ended', status }
