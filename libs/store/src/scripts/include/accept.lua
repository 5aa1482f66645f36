-- Accepts a job, all or nothing: `a` and the reply as in accept-1.lua, `context` = its input document.
local function accept_job(a, context)
  local record = key.job(a.id)

  if a.fence and redis.call('GET', key.runLock(a.fence.run)) ~= a.fence.owner then return { 'fenced' } end

  local reserved = a.idempotency and (a.idempotency.internal and key.once or key.idempotency)(a.tenant, a.idempotency.key)
  if reserved then
    local hash, answer = unpack(redis.call('HMGET', reserved, 'hash', 'answer'))
    if hash then
      if hash == a.idempotency.hash and answer then return { 'replay', answer } end
      return { 'conflict' }
    end
  end
  if not a.is_new and redis.call('EXISTS', record) == 1 then return { 'exists' } end
  local limits = a.limits
  if limits and limits.singleton then
    local first, trace = limit_singleton(a.tenant, limits.singleton)
    if first then return { 'singleton', first, trace } end
  end
  if a.active_limit and a.active_limit > 0 then
    local active = 0
    for _, state in ipairs(OPEN) do active = active + redis.call('ZCARD', key.jobsInState(a.tenant, state)) end
    if active >= a.active_limit then return { 'backpressure', tostring(active) } end
  end

  local agents = a.agents
  if agents and agent_forbids(a, a.place and a.place.worker and a.place.worker.pool) then return { 'agent_changed' } end

  if a.memory and not take_memory(a.memory, a.tenant) then return { 'memory_taken' } end

  local at = micros()
  local stamp = text(at)
  local fields = a.fields
  local function set(values)
    for _, v in ipairs(values) do fields[#fields + 1] = v end
  end
  set({ 'id', a.id, 'tenant', a.tenant, 'trace_id', a.trace_id, 'topic', a.topic, 'state', 'PENDING', 'created_at', stamp,
    'updated_at', stamp, 'attempts', '0', 'history', history_line('submit', nil, 'PENDING', stamp) })

  local place, reason, position, detail = a.place, nil, 'queued', nil
  if place and may_place(place) then
    reason = room_for_new(place, a.tenant)
    if reason == 'ok' then position = 'dispatched' elseif place.may_wait then position, detail = 'waiting', reason end
  end
  if position ~= 'queued' and place.budget then
    local reservation = reserve_new(place.budget, value_in(fields, 'run'), at)
    if reservation then set({ 'reserved', reservation }) else position, detail = 'queued', nil end
  end
  local cancelled, blocker, j = {}, nil, nil
  if limits then
    local now_ms = math.floor(at / 1000)
    set({ 'limits', cjson.encode(limits) })
    if limits.singleton and not (a.next and is(TERMINAL, a.next.to)) then
      redis.call('SET', key.limitSingleton(a.tenant, limits.singleton.key), a.id)
    end
    if limits.debounce and not a.next then
      limit_debounce(a.id, a.tenant, limits.debounce, a.retain, now_ms, cancelled)
    end
    if position ~= 'queued' then
      j = { id = a.id, tenant = a.tenant, created = at, attempts = 0 }
      blocker = limit_enter(j, limits, a.retain, now_ms, cancelled)
      if blocker == 'cancel' then position, detail = 'cancelled', nil
      elseif blocker then position, reason = 'waiting', WAITING_REASONS[blocker] end
      if blocker and blocker ~= 'cancel' then
        detail = reason
        set({ 'blocked', limit_wait(j, limits, blocker, place.lane) })
      end
    end
  end
  if position ~= 'queued' then set({ 'decided', 'submission', 'run_ms', tostring(place.run_ms) }) end
  if position == 'waiting' then
    set({ 'waiting_reason', reason, 'waiting_since', stamp, 'lane', blocker and '' or place.lane.id, 'level', place.lane.level, 'parked',
      'jobWaiting', 'tenant_cap', tostring(place.tenant_cap), 'turn_cost', tostring(place.turn_cost) })
  else
    set({ 'parked', '', 'lane', '' })
    if a.turn_cost then set({ 'turn_cost', tostring(a.turn_cost) }) end
  end
  if position == 'queued' then set({ 'entry', entry_id(a.id, { suffix = a.queue }) }) end
  if a.decision then
    fields[#fields + 1] = 'decisions'
    fields[#fields + 1] = with_decision('', a.decision)
  end
  redis.call('HSET', record, unpack(fields))
  if agents then add_agent_job(a.id, a.tenant, agents, at, a.next and is(TERMINAL, a.next.to)) end
  audit('job', a.tenant, stamp, a.id, 'submit', '', 'PENDING', a.topic, value_in(fields, 'run') or '', '0', '', '', a.decision or '', '',
    value_in(fields, 'request') or '', value_in(fields, 'submitter') or '', value_in(fields, 'job_hash') or '')
  announce_job(a.id, 'submit', 'PENDING', at)
  if context ~= '' then redis.call('SET', key.context(a.id), context) end
  redis.call('ZADD', key.jobsInState(a.tenant, 'PENDING'), stamp, a.id)
  redis.call('SADD', key.tenants(), a.tenant)
  -- A job that starts its own trace is found by its id and needs no index entry.
  if a.trace_id ~= a.id then
    redis.call('ZADD', key.trace(a.trace_id), stamp, a.id)
    expire_record(key.trace(a.trace_id), a.tenant, a.meta_sec)
  end
  if reserved then
    redis.call('HSET', reserved, 'hash', a.idempotency.hash, 'answer', a.idempotency.answer)
    redis.call('EXPIRE', reserved, a.idempotency.ttl_sec)
  end

  local now_ms = math.floor(at / 1000)
  if a.next then
    move_job(a.id, a.next, at + 1)
  elseif position == 'dispatched' then
    dispatch_job(a.id, place, place.worker, place.dispatch_id, { attempts = 0, run_ms = place.run_ms, deadline_ms = place.deadline_ms }, at + 1)
    detail = '1'
  elseif position == 'cancelled' then
    limit_cancel(a.id, 'concurrency_limit', NEWEST_CANCELLED, a.retain, cancelled)
  elseif position == 'waiting' then
    if not blocker then wait_in_lane(a.id, place, a.tenant, at) end
    enqueue(a.id, a.topic, { queue = 'jobWaiting', delay_ms = place.wait_ms }, now_ms, a.run, a.run_path)
  else
    enqueue(a.id, a.topic, { queue = 'jobs', suffix = a.queue, priority = a.priority }, now_ms, a.run, a.run_path, a.tenant, a.turn_cost)
  end
  return { 'accepted', stamp, position, detail or '', unpack(cancelled) }
end
