--[[
  Adds a schedule to a workflow, or replaces one. Pending starts and queue entries of the previous version are removed,
  and the queue entry of the next due time is added.

  KEYS  1 schedule: hash
  ARGV  1 id   2 tenant   3 workflow   4 expected revision, 0 = it must not exist   5 document (JSON)
        6 next due time, ms, '' = none   7 author   8 maximum number of schedules of a workflow
        9 hash of the document

  Returns  written <revision> <µs>  |  changed <revision>  |  missing  |  no_workflow  |  full <count>
]]
local record = KEYS[1]
local id, tenant, workflow, expected, document, due, by, most, hash = unpack(ARGV)
local owner, removed = unpack(redis.call('HMGET', key.workflow(workflow), 'tenant', 'removed_at'))
if owner ~= tenant or removed then return { 'no_workflow' } end
local revision = redis.call('HGET', record, 'revision')
if not revision and expected ~= '0' then return { 'missing' } end
if (revision or '0') ~= expected then return { 'changed', revision } end
local there = redis.call('ZCARD', key.schedulesOf(workflow))
if not revision and there >= tonumber(most) then return { 'full', text(there) } end

local at = micros()
local stamp, next_revision = text(at), text(tonumber(expected) + 1)
if not revision then
  redis.call('HSET', record, 'id', id, 'tenant', tenant, 'workflow', workflow, 'created_at', stamp, 'created_by', by)
  redis.call('ZADD', key.schedulesOf(workflow), stamp, id)
end
content_before = redis.call('HGET', record, 'hash') or ''
redis.call('HSET', record, 'revision', next_revision, 'document', document, 'hash', hash, 'updated_at', stamp)
redis.call('HDEL', record, 'last_error')
schedule_drop_starts(id)
schedule_set_due(id, due, math.floor(at / 1000))
return { 'written', next_revision, stamp }
