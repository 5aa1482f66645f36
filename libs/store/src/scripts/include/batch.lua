--[[
  Runs several scripts in sequence. A failure affects only that script; its earlier writes remain, as with any script.

  KEYS  the keys of all, in order
  ARGV  for each: name, number of its keys, number of its arguments, its arguments

  Returns  for each { 1, reply }  |  { 0, error text }
]]
-- The clock and the caches are valid for one batch.
clock, ends_awaited, closed_pools, bull_first_due, bull_marked, placement_facts, endings, woken, tenants_in_turn =
  nil, nil, {}, {}, {}, {}, {}, {}, {}
changes, changes_followed, audits, held_tenants, stopped_tenants = {}, nil, {}, {}, {}
local replies, keys_read, at = {}, 0, 1
while at <= #ARGV do
  local name, key_count, arg_count = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local own_keys, own_args = {}, {}
  for i = 1, key_count do own_keys[i] = KEYS[keys_read + i] end
  for i = 1, arg_count do own_args[i] = ARGV[at + 2 + i] end
  keys_read, at = keys_read + key_count, at + 3 + arg_count
  if name ~= 'recordAct' then content_before = '' end
  local ok, reply = pcall(scripts[name], own_keys, own_args)
  if not ok and type(reply) == 'table' then reply = reply.err end
  replies[#replies + 1] = ok and { 1, reply } or { 0, tostring(reply) }
  act_reply = ok and type(reply) == 'table' and reply[1] or ''
end
run_notify_all()
if endings[1] then redis.call('PUBLISH', key.endings(), table.concat(endings, '\n')) end
if audits[1] then redis.call('XADD', key.auditOutbox(), '*', 'lines', table.concat(audits, '\n')) end
if changes[1] then redis.call('PUBLISH', key.changes(), table.concat(changes, '\n')) end
return replies
