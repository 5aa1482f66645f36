--[[
  Accepts a job: reserves its idempotency key, stores the record, its context and its first decision, and adds its queue
  entry, all or nothing. A job that policy holds or denies changes state in the same step.

  KEYS  1 job record
  ARGV  1 the acceptance (JSON): { id, tenant, trace_id, topic, priority,
          idempotency? = { key, hash, answer, ttl_sec, internal? (in a namespace that clients cannot name) }, active_limit, meta_sec,
          turn_cost? (cost of a turn of its tenant),
          is_new? (its id was generated, so it cannot exist), run?, run_path? (the step whose job it is),
          limits? = its limits by key (include/limits.lua), and with them retain,
          fence? = { run, owner } (refused unless that owner holds the run's lock),
          agents?, agent_pools? (as in the record; refused when an agent of the job has changed),
          memory? = { id, shared? } (refused when it belongs to another tenant),
          queue (entry suffix), next? = a transition on creation, as for move_job,
          place? = the placement of a permitted job: { snapshot (policy part), lane = { id, spec, level },
            may_wait, reason, run_ms, tenant_cap, turn_cost, wait_ms, budget? = its reservation, as for reserve_spend,
            worker? = { id, pool, max }, and with it other_lanes = {ids that it does not serve}, dispatch_id, deadline_ms,
            license_cap, from, retain } }
        2 context document     3 first decision (JSON) or ''     4 ... fields of the record, as field, value, ...

  A permitted job is dispatched to the proposed worker if no older job may want its slot and the limits allow it; otherwise
  it is added to its lane, or to the list of the limit that it waits for. Without a placement, when the policy of its
  decision is not in effect, or when it does not fit in its budgets, it goes to the queue of undecided jobs.

  Returns  accepted <µs> <queued> ''  |  accepted <µs> <waiting> <reason>  |  accepted <µs> <dispatched> <attempt>
           |  accepted <µs> <cancelled> '' (its concurrency key is full), each with the ids of jobs that its limits ended
           |  singleton <first job> <trace>
           |  replay <answer>  |  conflict  |  backpressure <active>  |  exists  |  fenced  |  memory_taken
           |  agent_changed (an agent of the job is not as it was checked)
]]
local a = cjson.decode(ARGV[1])
a.fields = { unpack(ARGV, 4) }
if ARGV[3] ~= '' then a.decision = ARGV[3] end
return accept_job(a, ARGV[2])
