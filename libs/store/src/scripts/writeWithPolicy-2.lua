--[[
  Writes or removes a workflow together with its policy: both or neither.

  KEYS  1 definition of the workflow   2 document that holds the policy bundles
  ARGV  1 'writeWorkflow' | 'removeWorkflow'   2 number of its arguments, then these, then those of writePolicy

  Returns  as that script  |  policy_changed: the bundles changed since they were read
]]
local name, count = ARGV[1], tonumber(ARGV[2])
local own = { unpack(ARGV, 3, 2 + count) }
local replacement = { unpack(ARGV, 3 + count) }

local stored = redis.call('GET', KEYS[2])
local revision = stored and cjson.decode(stored).revision or 0
if revision ~= tonumber(replacement[1]) then return { 'policy_changed' } end
local reply = scripts[name]({ KEYS[1] }, own)
if reply[1] == 'written' or reply[1] == 'unchanged' or reply[1] == 'removed' then
  scripts.writePolicy({ KEYS[2] }, replacement)
end
return reply
