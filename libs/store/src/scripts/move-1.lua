--[[
  Applies one state transition of a job.

  KEYS  1 job record
  ARGV  1 job id     2 the transition (JSON, see include/job.lua)     3 decision to record (JSON) or ''
        4 body of the result, '' = none     5 ... fields to set, as field, value, ...

  Returns  as move_job
]]
local m = cjson.decode(ARGV[2])
m.set = { unpack(ARGV, 5) }
if ARGV[3] ~= '' then m.decision = ARGV[3] end
if ARGV[4] ~= '' then m.result_body = ARGV[4] end
return move_job(ARGV[1], m, micros())
