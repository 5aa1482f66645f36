--[[
  Applies one state transition of a job.

  KEYS  1 job record
  ARGV  1 job id     2 the transition (JSON, see include/job.lua)     3 decision to record (JSON) or ''
        4 body of the result, optional

  Returns  as move_job
]]
local m = cjson.decode(ARGV[2])
if ARGV[3] ~= '' then m.decision = ARGV[3] end
m.result_body = ARGV[4]
return move_job(ARGV[1], m, micros())
