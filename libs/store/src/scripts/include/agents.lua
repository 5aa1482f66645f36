--[[
  Agents of jobs. The field `agents` of a job names the agent that submitted it and those that delegated to it, each with the
  revision by which it was checked: `<id>:<revision> ...`. See docs/adr/0028-agents.md.
]]

local AGENT_DAY_SEC = 691200

local function agent_day(id, at)
  return key.agentDay(id, text(math.floor(at / 86400000000)))
end

local function count_agent(id, field, at)
  redis.call('HINCRBY', agent_day(id, at), field, 1)
  redis.call('EXPIRE', agent_day(id, at), AGENT_DAY_SEC)
end

-- Whether an agent of a job was changed, suspended or revoked since it was checked.
local function agents_changed(agents)
  for id, revision in string.gmatch(agents, '(%S+):(%d+)') do
    local status, current = unpack(redis.call('HMGET', key.agent(id), 'status', 'revision'))
    if status ~= 'active' or current ~= revision then return true end
  end
  return false
end

-- Whether a delegation token is stored and not revoked. One that is missing may have been revoked before a backup was restored.
local function delegation_holds(jti)
  local tenant, revoked = unpack(redis.call('HMGET', key.delegation(jti), 'tenant', 'revoked_at'))
  return tenant and not revoked
end

-- Whether a delegation of a job has ended. `chain`: its tokens with their ends, `<jti>:<ms> ...`.
local function delegation_ended(chain)
  local now_ms = micros() / 1000
  for jti, ends_ms in string.gmatch(chain, '(%S+):(%d+)') do
    if tonumber(ends_ms) <= now_ms or not delegation_holds(jti) then return true end
  end
  return false
end

-- Whether a job must be decided again, before it is accepted or dispatched to a worker of this pool: its agents have changed, or
-- may not use the pool, or its delegation has ended. `job`: the fields of its record; `agent_pools`: one pool per line, or `*`.
local function agent_forbids(job, pool)
  local pools = job.agent_pools or ''
  if pool and pools ~= '*' and not string.find(pools, '\n' .. pool .. '\n', 1, true) then return true end
  if job.delegation_chain and job.delegation_chain ~= '' and delegation_ended(job.delegation_chain) then return true end
  return agents_changed(job.agents)
end

-- Adds a new job to the open jobs of its agents. The first of them submitted it.
local function add_agent_job(id, tenant, agents, at, is_denied)
  local submitter
  for agent in string.gmatch(agents, '(%S+):%d+') do
    submitter = submitter or agent
    redis.call('SADD', key.agentJobs(agent), id)
  end
  redis.call('HSET', key.agentActivity(tenant), submitter, text(at))
  count_agent(submitter, 'jobs', at)
  if is_denied then count_agent(submitter, 'denied', at) end
end

local function remove_agent_job(id, agents)
  for agent in string.gmatch(agents, '(%S+):%d+') do redis.call('SREM', key.agentJobs(agent), id) end
end

-- More open jobs than this are counted, but not by their states.
local MAX_JOBS_COUNTED = 5000

-- Numbers of the open jobs of an agent, as text, for its audit event.
local function count_agent_jobs(id)
  local counts = { open_jobs = tostring(redis.call('SCARD', key.agentJobs(id))) }
  if tonumber(counts.open_jobs) > MAX_JOBS_COUNTED then return counts end
  local running, held = 0, 0
  for _, job in ipairs(redis.call('SMEMBERS', key.agentJobs(id))) do
    local state = redis.call('HGET', key.job(job), 'state')
    if is(IN_FLIGHT, state) then running = running + 1 end
    if state == 'APPROVAL_REQUIRED' then held = held + 1 end
  end
  counts.running_jobs, counts.held_jobs = tostring(running), tostring(held)
  return counts
end
