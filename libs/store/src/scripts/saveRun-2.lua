--[[
  Saves the changes of a pass, all or nothing, if the caller still holds the run's lock and the revision is unchanged. A turn
  planned without the lock is saved if no process holds it and nothing remains to be applied. Its events are the first of the
  inbox, since only a save removes events; if more have arrived, its engine is notified again.
  Idempotent: repeating a save returns the same reply and changes nothing.

  KEYS  1 run record   2 run lock
  ARGV  1 { id, owner (of the lock), unlocked? (planned without the lock), home? (engine that keeps the run in memory), token (of this save), revision (as read), active = {statuses of runs that have not
          ended}, status? = { from = {statuses}, to, ends? = retention in seconds, 0 = forever },
          steps, events (number of each), removed = {paths}, processed (number of processed inbox events),
          acting? (effects remain to be applied: the pass stays open), jobs (number of jobs that it accepts), set = {timers: member, due_ms, queue},
          clear = {members}, tree = {changes of tree_change()}, reason? (why the run failed), closes? (no effects
          remain: with an empty inbox the run sleeps and the lock is released), post? (event (JSON) for its next turn) } (JSON)
        2 header (JSON), '' = unchanged
        3...  `steps` times path and step (JSON), `events` events (JSON), `jobs` times acceptance (JSON, as for accept-1.lua,
              without `memory` and `fence`) and context

  A job that exists is kept as it is.

  Returns  saved <revision> <µs> <events left in the inbox, -1 = asleep>, then for each job <position> <detail> as for
           accept-1.lua, or <exists> ''; nothing for jobs when the save is repeated  |  changed <revision>  |  fenced  |  busy  |  refused <status>  |  missing
]]
local record, lock = KEYS[1], KEYS[2]
local s, header = cjson.decode(ARGV[1]), ARGV[2]
local id = s.id

local tenant, workflow, from, revision, token, updated, acting, wakes = unpack(redis.call('HMGET', record, 'tenant', 'workflow',
  'status', 'revision', 'token', 'updated_at', 'acting', 'wakes'))
if not revision then return { 'missing' } end
local inbox = key.runInbox(id)
if token == s.token then
  local sleeps = s.closes and redis.call('HEXISTS', record, 'awake') == 0
  return { 'saved', revision, updated, sleeps and -1 or redis.call('LLEN', inbox) }
end
if not s.unlocked and redis.call('GET', lock) ~= s.owner then return { 'fenced' } end
if tonumber(revision) ~= s.revision then return { 'changed', revision } end
if s.unlocked and (acting == '1' or redis.call('EXISTS', lock) == 1 or redis.call('LLEN', inbox) < s.processed) then
  return { 'busy' }
end
if not is(s.active, from) then return { 'refused', from } end
if s.status and not is(s.status.from, from) then return { 'refused', from } end
run_check_queues(s.set)

-- Before the run is written: if one of them failed, the turn would be planned again, with the same ids.
local placed = run_accept_jobs(ARGV, 3 + 2 * s.steps + s.events, s.jobs)

local at = micros()
local stamp, now_ms, next_revision, to = text(at), math.floor(at / 1000), text(s.revision + 1), s.status and s.status.to or from
local ends = s.status and s.status.ends
local fields = { 'revision', next_revision, 'token', s.token, 'status', to, 'updated_at', stamp, 'acting', s.acting and '1' or '0' }
if header ~= '' then
  fields[#fields + 1] = 'header'
  fields[#fields + 1] = header
end
if s.home then
  fields[#fields + 1] = 'home'
  fields[#fields + 1] = s.home
end
if ends then
  fields[#fields + 1] = 'ended_at'
  fields[#fields + 1] = stamp
end
redis.call('HSET', record, unpack(fields))
-- The inbox of an ended run is deleted below.
if s.processed > 0 and not ends then redis.call('LTRIM', inbox, s.processed, -1) end
if s.post and not ends then redis.call('RPUSH', inbox, s.post) end

local steps = key.runSteps(id)
for _, path in ipairs(s.removed) do redis.call('HDEL', steps, path) end
if s.steps > 0 then run_write('HSET', steps, ARGV, 3, 2 * s.steps) end
run_append_timeline(id, ARGV, 3 + 2 * s.steps, s.events)

if s.events > 0 or from ~= to then announce_run(id, tenant, workflow, to, at) end
if from ~= to then
  redis.call('ZREM', key.runsInStatus(tenant, from), id)
  audit('run', tenant, stamp, id, workflow, from, to)
end
run_index(id, tenant, workflow, to, stamp, ends)
for _, name in ipairs(s.clear) do run_clear_timer(id, workflow, name) end
for _, timer in ipairs(s.set) do run_set_timer(id, workflow, timer, next_revision, now_ms) end
for _, change in ipairs(s.tree) do tree_change(id, change, now_ms) end
if ends then
  tree_end(id, '', nil, cjson.encode(to), s.reason, now_ms)
  run_end(id, tenant, workflow, to, ends, at)
end
local left = ends and 0 or redis.call('LLEN', inbox)
if left > 0 or not s.closes then
  if s.unlocked and left > 0 then run_wake_again(id, workflow, now_ms) end
  return { 'saved', next_revision, stamp, left, unpack(placed) }
end
run_sleep(id, wakes, s.unlocked)
return { 'saved', next_revision, stamp, -1, unpack(placed) }
