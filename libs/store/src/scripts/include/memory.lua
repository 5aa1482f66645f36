-- The tenant that owns a memory: the tenant of the job or run named by its id, otherwise of the first use. Nil if unused.
local function memory_owner(id)
  local run = string.match(id, '^run:(.+)$')
  local owner = run and redis.call('HGET', key.run(run), 'tenant') or redis.call('HGET', key.job(id), 'tenant')
  return owner or redis.call('GET', key.memoryOwner(id)) or nil
end

-- Assigns a memory to a tenant on first use. False if another tenant owns it; `m.shared` memories have no owner.
local function take_memory(m, tenant)
  if m.shared then return true end
  local owner = memory_owner(m.id)
  if not owner then redis.call('SET', key.memoryOwner(m.id), tenant) end
  return not owner or owner == tenant
end
