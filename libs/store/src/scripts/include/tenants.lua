--[[
  Tenants that are suspended or being deleted. Their jobs are accepted and wait, and none is dispatched: in its lane such a tenant
  is out of turn like one at its own limit. See docs/adr/0034-suspension-of-tenants.md.
]]

-- Tenants to whether they are stopped, as first read in this batch.
local stopped_tenants = {}

local function is_tenant_stopped(tenant)
  if stopped_tenants[tenant] == nil then
    stopped_tenants[tenant] = redis.call('SISMEMBER', key.stoppedTenants(), tenant) == 1
  end
  return stopped_tenants[tenant]
end
