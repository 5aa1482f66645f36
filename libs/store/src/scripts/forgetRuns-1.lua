--[[
  Removes runs past their retention from the indexes; their records have expired or expire now. Runs of tenants under a legal
  hold stay.

  KEYS  1 runs that have ended, by end of retention
  ARGV  1 now, ms   2 maximum number

  Returns  number of runs that were due
]]
local HELD_RUN_RETRY_MS = 60000
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, member in ipairs(due) do
  local id, tenant, workflow, status = unpack(cjson.decode(member))
  -- Checked again later, since the record is kept.
  if on_hold(tenant) then redis.call('ZADD', KEYS[1], text(tonumber(ARGV[1]) + HELD_RUN_RETRY_MS), member)
  else run_forget(id, tenant, workflow, status) end
end
return #due
