--[[
  Replaces the SCIM token, if it is as it was read, and records that in the audit.

  KEYS  1 token: hash
  ARGV  1 tenant of the event   2 expected revision, 0 = none   3 digest   4 mask
        5 digest of the token before, '' = none   6 time until which that is valid, ms   7 act (JSON)

  Returns  written <revision>  |  changed
]]
local revision = redis.call('HGET', KEYS[1], 'revision') or '0'
if revision ~= ARGV[2] then return { 'changed' } end
local next_revision = text(tonumber(revision) + 1)
redis.call('HSET', KEYS[1], 'revision', next_revision, 'digest', ARGV[3], 'mask', ARGV[4],
  'previous', ARGV[5], 'previous_until', ARGV[6])
audit('act', ARGV[1], text(micros()), ARGV[7])
return { 'written', next_revision }
