-- The tenant a memory belongs to: of the job or run its id names, else the one that used it first. Nil before any use.
local function memory_owner(id)
  local run = string.match(id, '^run:(.+)$')
  local owner = run and redis.call('HGET', key.run(run), 'tenant') or redis.call('HGET', key.job(id), 'tenant')
  return owner or redis.call('GET', key.memoryOwner(id)) or nil
end

-- Takes a memory for a tenant with its first use. False when it belongs to another; `m.shared` memories belong to nobody.
local function take_memory(m, tenant)
  if m.shared then return true end
  local owner = memory_owner(m.id)
  if not owner then redis.call('SET', key.memoryOwner(m.id), tenant) end
  return not owner or owner == tenant
end
