-- What wrk sends and what it prints. Arguments: METHOD KEY BODY DEPTH; one line of JSON comes out.
-- Without a global `request` wrk formats the request once, so that Lua costs nothing while it measures.

function init(args)
    wrk.method = args[1]
    if args[2] ~= "" then wrk.headers["Authorization"] = "Bearer " .. args[2] end
    if args[3] ~= "" then
        wrk.body = args[3]
        wrk.headers["Content-Type"] = "application/json"
    end
    local depth = tonumber(args[4])
    if depth > 1 then
        local batch = string.rep(wrk.format(), depth)
        request = function() return batch end
    end
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '{"requests": %d, "seconds": %.6f, "bytes": %d, "p50_us": %d, "p99_us": %d, "errors": %d}\n',
        summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50), latency:percentile(99),
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
