-- The time is read once per batch and increases with each call, so that transitions have distinct times.
local clock
local function micros()
  if not clock then
    local t = redis.call('TIME')
    clock = t[1] * 1000000 + t[2]
  end
  clock = clock + 1
  return clock
end

local function text(number)
  return string.format('%.0f', number)
end

-- Appends an entry (JSON) to the policy audit of a tenant; the newest `keep` entries are kept.
local function append_audit(tenant, entry, keep)
  redis.call('LPUSH', key.policyAudit(tenant), entry)
  redis.call('LTRIM', key.policyAudit(tenant), 0, tonumber(keep) - 1)
end

-- Lines about the jobs and runs that ended in this batch; batch.lua publishes them together.
local endings = {}

-- Whether clients wait for ends, as first read in this batch.
local ends_awaited

-- Changes of jobs and runs of this batch (JSON), for gateways with stream clients; batch.lua publishes them together.
local changes = {}

-- Whether gateways have stream clients, as first read in this batch.
local changes_followed

-- Without stream clients a change costs one read per batch.
local function follows_changes()
  if changes_followed == nil then changes_followed = redis.call('EXISTS', key.changesFollowed()) == 1 end
  return changes_followed
end

local function announce_change(change)
  changes[#changes + 1] = cjson.encode(change)
end

-- What this batch changed, a line each; batch.lua adds them to the audit outbox together, so that no change lacks its line.
-- The columns of a kind of line are described in libs/core/audit-chain/src/outbox.ts.
local audits = {}

-- First element of the reply of the call before, for recordAct.
local act_reply = ''

-- SHA-256 of the content that the call before replaced or removed, for recordAct. '' = there was none, or its hash is unknown.
local content_before = ''

local function audit(...)
  audits[#audits + 1] = table.concat({ ... }, '\t')
end

local function is(list, value)
  for _, v in ipairs(list) do
    if v == value then return true end
  end
  return false
end
