--[[
  Keeps records of tenants under a legal hold, with what belongs to them. Keys of other kinds, without an expiry, and of other
  tenants are left alone, so any keys may be passed, any number of times.

  ARGV  1... keys

  Returns  number of keys that no longer expire
]]
local frozen = 0

local function freeze(record, tenant)
  if freeze_record(record, tenant) then frozen = frozen + 1 end
end

-- A field of a hash, the value of a text, or the oldest member of a sorted set; nil when the key is absent or of another type.
local function read(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' then reply = not reply.err and reply[1] end
  return type(reply) == 'string' and reply or nil
end

local function tenant_in(body)
  local ok, fields = pcall(cjson.decode, body or '')
  return ok and type(fields) == 'table' and type(fields.tenant) == 'string' and fields.tenant or nil
end

local function job_tenant(id)
  return read('HGET', key.job(id), 'tenant')
end

-- Worker-written parts of a result have the id of the job as a prefix, and ids may contain colons too.
local function result_tenant(name)
  for _ = 1, 8 do
    local tenant = job_tenant(name)
    if tenant then return tenant end
    name = string.match(name, '^(.+):[^:]*$')
    if not name then return nil end
  end
end

-- Prefix of keys to the tenant of a key, from the rest of its name.
local owners = {
  { key.job(''), function(id, k) return read('HGET', k, 'id') == id and read('HGET', k, 'tenant') end },
  { key.jobEvents(''), job_tenant },
  { key.context(''), job_tenant },
  { key.result(''), result_tenant },
  { key.trace(''), function(_, k) return job_tenant(read('ZRANGE', k, 0, 0) or '') end },
  { key.deadLetter(''), function(_, k) return tenant_in(read('GET', k)) end },
  { key.artifactMeta(''), function(_, k) return tenant_in(read('GET', k)) end },
  { key.runEvents(''), function(id) return read('HGET', key.run(id), 'tenant') end },
  { key.run(''), function(id, k) return read('HGET', k, 'id') == id and read('HGET', k, 'tenant') end },
  { key.workflow(''), function(_, k) return read('HGET', k, 'tenant') end },
}

-- What belongs to a record and is found by its name only.
local parts = {
  [key.run('')] = function(id, tenant)
    freeze(key.runSteps(id), tenant)
    freeze(key.runTimeline(id), tenant)
  end,
  [key.artifactMeta('')] = function(id, tenant) freeze(key.artifact(id), tenant) end,
}

for _, k in ipairs(ARGV) do
  if redis.call('PEXPIRETIME', k) >= 0 then
    for _, owner in ipairs(owners) do
      local prefix, find = unpack(owner)
      if string.sub(k, 1, #prefix) == prefix then
        local id = string.sub(k, #prefix + 1)
        local tenant = find(id, k)
        if tenant and on_hold(tenant) then
          if parts[prefix] then parts[prefix](id, tenant) end
          freeze(k, tenant)
        end
      end
    end
  end
end
return { text(frozen) }
